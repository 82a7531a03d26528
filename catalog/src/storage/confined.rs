//! Files of this machine that lie in folders which nothing leads out of: neither links, nor such as are put in place between a look
//! and a use. The kernel itself resolves the path and refuses to leave; there is no moment between check and opening.
//!
//! Links that stay within a folder, or lead into another one that is allowed, work. The folders themselves are opened as their
//! operator named them, through whatever links are in their names. All of it blocks, and is for threads that may.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Dir, Mode, OFlags, ResolveFlags, openat};
use rustix::io::Errno;

use super::local::{is_upload, stored_object};
use super::{StorageError, StoredObject};
use crate::location::{Location, LocationError};

/// How often a path is resolved again because something on it was moved meanwhile.
const MAX_RESOLUTIONS: usize = 16;

/// What a file is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To read it.
    Read,
    /// To list what is in it.
    List,
    /// To be told of it.
    Look,
}

impl Purpose {
    /// A pipe that nobody writes to must not keep the opener waiting.
    fn flags(self) -> OFlags {
        let purpose = match self {
            Self::Read => OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY,
            Self::List => OFlags::RDONLY | OFlags::DIRECTORY,
            Self::Look => OFlags::PATH,
        };
        purpose | OFlags::CLOEXEC
    }
}

/// Opens a regular file.
pub(super) fn open_file(
    roots: &[Location],
    location: &Location,
    purpose: Purpose,
) -> Result<(File, Metadata), StorageError> {
    let file = open(roots, location, purpose)?;
    let metadata = file.metadata().map_err(super::local::failed)?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(StorageError::NotAFile) }
}

/// Opens what lies at a location, where that is within one of the folders.
fn open(roots: &[Location], location: &Location, purpose: Purpose) -> Result<File, StorageError> {
    let below = |root: &Location| Some((root.file_path()?, location.at_or_below(root)?.to_owned()));
    let (root, below) = roots.iter().find_map(below).ok_or(LocationError::NotAllowed)?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match open_below(&root, Path::new(&below), purpose, resolve) {
        // A link leads out, or is absolute.
        Err(Errno::XDEV) => open_resolved(roots, location, purpose),
        opened => opened.map_err(storage_error),
    }
}

/// Opens what the links of a path lead to, through none: what is put in their place meanwhile is not followed. Whether there is
/// anything outside is not told.
fn open_resolved(roots: &[Location], location: &Location, purpose: Purpose) -> Result<File, StorageError> {
    let resolved = location.file_path().and_then(|path| std::fs::canonicalize(path).ok());
    let resolved = resolved.ok_or(LocationError::NotAllowed)?;
    let real_root = |root: &Location| std::fs::canonicalize(root.file_path()?).ok();
    let within = |root: PathBuf| Some((resolved.strip_prefix(&root).ok()?.to_owned(), root));
    let (below, root) = roots.iter().filter_map(real_root).find_map(within).ok_or(LocationError::NotAllowed)?;
    match open_below(&root, &below, purpose, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS) {
        Err(Errno::XDEV | Errno::LOOP) => Err(LocationError::NotAllowed.into()),
        opened => opened.map_err(storage_error),
    }
}

fn open_below(root: &Path, below: &Path, purpose: Purpose, resolve: ResolveFlags) -> Result<File, Errno> {
    let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
    let root = openat(CWD, root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for _ in 0..MAX_RESOLUTIONS {
        match open_beneath(&root, below, purpose.flags(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            opened => return opened,
        }
    }
    Err(Errno::AGAIN)
}

#[cfg(target_os = "linux")]
fn open_beneath(
    root: &impl std::os::fd::AsFd,
    below: &Path,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Result<File, Errno> {
    rustix::fs::openat2(root, below, flags, Mode::empty(), resolve).map(File::from)
}

/// No other system resolves a path without leaving a folder, so there nothing can be confined.
#[cfg(not(target_os = "linux"))]
fn open_beneath(_: &impl std::os::fd::AsFd, _: &Path, _: OFlags, _: ResolveFlags) -> Result<File, Errno> {
    Err(Errno::NOSYS)
}

fn storage_error(error: Errno) -> StorageError {
    match error {
        Errno::NOENT => StorageError::NotFound,
        Errno::ACCESS => StorageError::Denied,
        // Older kernels do not have the call, and some containers' rules deny what they do not know.
        Errno::NOSYS | Errno::PERM => StorageError::Unconfined,
        Errno::AGAIN => StorageError::Replaced,
        Errno::NOTDIR | Errno::LOOP | Errno::NXIO | Errno::NODEV | Errno::NAMETOOLONG => StorageError::NotAFile,
        other => super::local::failed(other.into()),
    }
}

/// Whether whoever asked for a listing wants more of it.
#[derive(PartialEq, Eq)]
pub(super) enum Listing {
    Wanted,
    Over,
}

/// A folder that is still to be listed, and what identifies those that it lies in.
struct Folder {
    location: Location,
    above: Vec<(u64, u64)>,
}

/// Tells of all files below a folder, also those behind links that stay within what is allowed, and of nothing else. A folder that
/// is not there holds none.
pub(super) fn list(
    roots: &[Location],
    folder: &Location,
    mut found: impl FnMut(StoredObject) -> Listing,
) -> Result<(), StorageError> {
    let mut folders = vec![Folder { location: folder.clone(), above: Vec::new() }];
    let mut is_first = true;
    while let Some(folder) = folders.pop() {
        let opened = open(roots, &folder.location, Purpose::List);
        let opened = match opened {
            Err(StorageError::NotFound) => continue,
            // What has become something else since it was seen is none.
            Err(StorageError::NotAFile | StorageError::Location(_)) if !is_first => continue,
            opened => opened?,
        };
        is_first = false;
        if list_folder(roots, &folder, &opened, &mut folders, &mut found)? == Listing::Over {
            break;
        }
    }
    Ok(())
}

fn list_folder(
    roots: &[Location],
    folder: &Folder,
    opened: &File,
    folders: &mut Vec<Folder>,
    found: &mut impl FnMut(StoredObject) -> Listing,
) -> Result<Listing, StorageError> {
    let metadata = opened.metadata().map_err(super::local::failed)?;
    let identity = (metadata.dev(), metadata.ino());
    if folder.above.contains(&identity) {
        // A link leads up to it.
        return Ok(Listing::Wanted);
    }
    let above: Vec<(u64, u64)> = folder.above.iter().copied().chain([identity]).collect();
    for entry in Dir::read_from(opened).map_err(storage_error)? {
        let entry = entry.map_err(storage_error)?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") || is_upload(&name.to_string_lossy()) {
            continue;
        }
        let no_text = || LocationError::Key("it is not UTF-8".to_owned());
        let location = folder.location.join(name.to_str().map_err(|_| no_text())?)?;
        let itself = openat(opened, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
        let Some(metadata) = itself.ok().and_then(|itself| File::from(itself).metadata().ok()) else { continue };
        let metadata = if metadata.is_symlink() { behind_link(roots, &location) } else { Some(metadata) };
        match metadata {
            Some(metadata) if metadata.is_dir() => folders.push(Folder { location, above: above.clone() }),
            Some(metadata) if metadata.is_file() && found(stored_object(&location, &metadata)) == Listing::Over => {
                return Ok(Listing::Over);
            }
            _ => {}
        }
    }
    Ok(Listing::Wanted)
}

/// What a link leads to, if that is within what is allowed.
fn behind_link(roots: &[Location], location: &Location) -> Option<Metadata> {
    open(roots, location, Purpose::Look).ok()?.metadata().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// A folder with two that are allowed in it, `in` and `too`, and one that is not, `out`; a file `f` in each.
    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for name in ["in", "too", "out"] {
                std::fs::create_dir(folder.path().join(name)).unwrap();
                std::fs::write(folder.path().join(name).join("f"), name).unwrap();
            }
            Self(folder)
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn at(&self, name: &str) -> Location {
            Location::parse(self.path(name).to_str().unwrap(), None).unwrap()
        }

        fn link(&self, name: &str, target: impl AsRef<Path>) {
            symlink(target, self.path(name)).unwrap();
        }

        fn roots(&self) -> [Location; 2] {
            [self.at("in/"), self.at("too")]
        }

        /// What is in the file of this name.
        fn read(&self, name: &str) -> Result<String, StorageError> {
            let (mut file, _) = open_file(&self.roots(), &self.at(name), Purpose::Read)?;
            let mut content = String::new();
            std::io::Read::read_to_string(&mut file, &mut content).unwrap();
            Ok(content)
        }
    }

    #[test]
    fn links_are_followed_where_they_lead_to_what_is_allowed() {
        let tree = Tree::new();
        tree.link("in/near", "f");
        tree.link("in/up-and-down", "../in/f");
        tree.link("in/absolute", tree.path("in/f"));
        tree.link("in/other", tree.path("too/f"));
        tree.link("in/other-relative", "../too/f");
        tree.link("in/folder", tree.path("too"));
        tree.link("in/chain", "folder/../too/f");
        for (name, content) in [
            ("in/f", "in"),
            ("in/near", "in"),
            ("in/absolute", "in"),
            ("in/up-and-down", "in"),
            ("in/other", "too"),
            ("in/other-relative", "too"),
            ("in/folder/f", "too"),
            ("in/chain", "too"),
        ] {
            assert_eq!(tree.read(name).unwrap(), content, "{name}");
        }
    }

    #[test]
    fn links_that_lead_out_are_refused_whatever_is_there() {
        let tree = Tree::new();
        tree.link("in/relative", "../out/f");
        tree.link("in/absolute", tree.path("out/f"));
        tree.link("in/folder", "../out");
        tree.link("in/folder-absolute", tree.path("out"));
        tree.link("in/chain", "folder/f");
        tree.link("in/back", "../out/../in/f");
        tree.link("in/nothing", "../out/nothing");
        tree.link("in/nothing-absolute", "/nothing/at/all");
        tree.link("in/root", "/");
        tree.link("in/process", "/proc/self/root");
        for name in [
            "in/relative",
            "in/absolute",
            "in/folder/f",
            "in/folder-absolute/f",
            "in/folder/nothing",
            "in/chain",
            "in/nothing",
            "in/nothing-absolute",
            "in/root/etc/passwd",
            "in/process/etc/passwd",
            "out/f",
        ] {
            let error = tree.read(name).unwrap_err();
            assert!(matches!(error, StorageError::Location(LocationError::NotAllowed)), "{name} {error:?}");
        }
        // It is within what is allowed once it is resolved.
        assert_eq!(tree.read("in/back").unwrap(), "in");
    }

    #[test]
    fn what_is_no_file_is_refused_without_waiting_for_it() {
        let tree = Tree::new();
        tree.link("in/loop", "loop");
        rustix::fs::mknodat(CWD, tree.path("in/pipe"), rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(tree.path("in/socket")).unwrap();
        std::fs::create_dir(tree.path("in/folder")).unwrap();
        for name in ["in/loop", "in/pipe", "in/socket", "in/folder", "in/f/below"] {
            let error = tree.read(name).unwrap_err();
            assert!(matches!(error, StorageError::NotAFile), "{name} {error:?}");
        }
        drop(socket);
        assert!(matches!(tree.read("in/missing"), Err(StorageError::NotFound)));
        assert!(open_file(&tree.roots(), &tree.at("in/pipe"), Purpose::Look).is_err());
    }

    #[test]
    fn an_allowed_folder_may_itself_be_a_link() {
        let tree = Tree::new();
        tree.link("lake", "out");
        let roots = [tree.at("lake")];
        assert!(open_file(&roots, &tree.at("lake/f"), Purpose::Read).is_ok());
        tree.link("out/out", "../in/f");
        assert!(open_file(&roots, &tree.at("lake/out"), Purpose::Read).is_err());
    }

    #[test]
    fn a_link_that_is_put_in_place_meanwhile_leads_nowhere_else() {
        let tree = Tree::new();
        std::fs::create_dir(tree.path("in/a")).unwrap();
        std::fs::write(tree.path("in/a/f"), "in").unwrap();
        tree.link("in/to-a", tree.path("in/a"));
        tree.link("in/to-out", tree.path("out"));
        tree.link("in/relative-out", "../out");
        let is_over = AtomicBool::new(false);
        let swapped = tree.path("in/swapped");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for target in ["to-a", "to-out", "a", "relative-out"].iter().cycle() {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    symlink(target, tree.path("in/next")).unwrap();
                    std::fs::rename(tree.path("in/next"), &swapped).unwrap();
                }
            });
            let mut read = 0;
            for _ in 0..20_000 {
                if let Ok(content) = tree.read("in/swapped/f") {
                    assert_eq!(content, "in");
                    read += 1;
                }
            }
            is_over.store(true, Ordering::Relaxed);
            assert!(read > 0);
        });
    }

    fn names(tree: &Tree, folder: &str) -> Vec<String> {
        let (mut names, root) = (Vec::new(), tree.path("").to_str().unwrap().to_owned());
        list(&tree.roots(), &tree.at(folder), |object| {
            names.push(object.location.file_path().unwrap().to_str().unwrap().replacen(&root, "", 1));
            Listing::Wanted
        })
        .unwrap();
        names.sort();
        names
    }

    #[test]
    fn a_listing_shows_nothing_outside() {
        let tree = Tree::new();
        std::fs::create_dir(tree.path("in/sub")).unwrap();
        std::fs::write(tree.path("in/sub/g"), "").unwrap();
        std::fs::write(tree.path("in/upload#1"), "").unwrap();
        tree.link("in/near", "sub/g");
        tree.link("in/too", tree.path("too"));
        tree.link("in/out", "../out");
        tree.link("in/out-absolute", tree.path("out"));
        tree.link("in/out-file", tree.path("out/f"));
        tree.link("in/nothing", "nothing");
        tree.link("in/sub/up", "..");
        assert_eq!(names(&tree, "in/"), ["in/f", "in/near", "in/sub/g", "in/too/f"]);
        assert_eq!(names(&tree, "in/too"), ["in/too/f"]);
        assert_eq!(names(&tree, "in/missing"), Vec::<String>::new());
        let refused = list(&tree.roots(), &tree.at("in/out"), |_| panic!("it shows something"));
        assert!(matches!(refused, Err(StorageError::Location(LocationError::NotAllowed))));
    }

    #[test]
    fn a_listing_ends_where_nobody_wants_more() {
        let tree = Tree::new();
        std::fs::write(tree.path("in/g"), "").unwrap();
        let mut count = 0;
        list(&tree.roots(), &tree.at("in"), |_| {
            count += 1;
            Listing::Over
        })
        .unwrap();
        assert_eq!(count, 1);
    }

    #[test]
    fn files_are_told_of_as_where_anything_is_allowed() {
        let tree = Tree::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let anything = crate::Storage::from_environment();
            let within = anything.within(&super::super::Allowed::below(tree.roots()));
            let object = anything.head(&tree.at("in/f")).await.unwrap();
            assert_eq!(within.head(&tree.at("in/f")).await.unwrap(), object);
            assert_eq!(within.list(&tree.at("in")).await.unwrap(), anything.list(&tree.at("in")).await.unwrap());
            assert_eq!(within.read_chunk(&object, 1..2).await.unwrap().bytes(), b"n");
        });
    }
}
