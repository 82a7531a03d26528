//! The catalog: one store, the object stores, a clock.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prunus_manifest::{PowerLoss, Store, StoreOptions};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::access::{Principal, Tokens};
use crate::activity::Activity;
use crate::actor::Actor;
use crate::admission::Admission;
use crate::audit::AuditBudget;
use crate::clock::{Clock, SystemClock};
use crate::commit::Heads;
use crate::leases::Leases;
use crate::limits::Limits;
use crate::obstacle_log::ObstacleLog;
use crate::plan_cache::{DEFAULT_PLAN_CACHE_BYTES, PlanCache};
use crate::storage::{AllowedLocations, ObjectStoreOptions, Storage};
use crate::{Result, blocking, late_columns};

/// The name of the database in a data folder.
pub(crate) const DATABASE_FILE: &str = "prunus.db";

/// The use cases of Prunus are its methods, a file each. It is cheap to clone; all clones are one catalog, each with who asks for
/// what is done through it.
#[derive(Clone)]
pub struct Catalog {
    // A request clones the catalog several times: what they have in common is behind one counter.
    shared: Arc<Shared>,
    /// Who asks for what is done through this clone.
    pub(crate) actor: Arc<Actor>,
    /// What they may see; of a catalog that nobody was named for, everything.
    pub(crate) principal: Arc<Principal>,
}

/// What all clones of a catalog have in common.
pub struct Shared {
    pub(crate) store: Arc<Store>,
    /// Gives nothing before it is said of what namespace it is asked.
    pub(crate) storage: Storage,
    pub(crate) allowed: Arc<AllowedLocations>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) plan_cache: PlanCache,
    pub(crate) activity: Arc<Activity>,
    pub(crate) heads: Arc<Heads>,
    pub(crate) leases: Arc<Leases>,
    pub(crate) audit_budget: AuditBudget,
    /// Told when an audit is asked for.
    pub(crate) audits_begun: Arc<Notify>,
    pub(crate) obstacle_log: Arc<ObstacleLog>,
    /// Told when there may be files that nobody has looked at.
    pub(crate) files_came: Arc<Notify>,
    pub(crate) data_folder: Arc<Path>,
    /// How many bytes of its disk must be free.
    pub(crate) free_bytes_min: u64,
    /// How many days the journal keeps its entries; 0: for ever.
    pub(crate) journal_days: u32,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) limits: Limits,
    pub(crate) admission: Arc<Admission>,
}

impl Deref for Catalog {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

/// What may be set when a catalog is opened.
#[derive(Clone, Debug)]
pub struct CatalogOptions {
    /// How many files a manifest is made of.
    pub manifest_target_files: u32,
    /// How many bytes of what plans have read, and of plans with later pages, are kept in memory.
    pub plan_cache_bytes: u64,
    /// What a loss of power may take along.
    pub power_loss: PowerLoss,
    /// What is read of data files where nobody waits for it; by default nothing.
    pub audit_budget: AuditBudget,
    /// How much is taken at once.
    pub limits: Limits,
    /// How many bytes must be free on the disk of the data folder for the catalog to be ready.
    pub free_bytes_min: u64,
    /// How many days the journal keeps its entries; 0 keeps them for ever.
    pub journal_days: u32,
    /// Where tables and files may lie; by default anywhere.
    pub allowed_locations: AllowedLocations,
    /// Keys, regions and endpoints of object stores; by default those of the environment.
    pub object_store_options: ObjectStoreOptions,
    /// Where the time and new identities come from.
    pub clock: Arc<dyn Clock>,
}

impl Default for CatalogOptions {
    fn default() -> Self {
        Self {
            manifest_target_files: StoreOptions::default().manifest_target_files,
            plan_cache_bytes: DEFAULT_PLAN_CACHE_BYTES,
            power_loss: PowerLoss::default(),
            audit_budget: AuditBudget::default(),
            limits: Limits::default(),
            free_bytes_min: 0,
            journal_days: 0,
            allowed_locations: AllowedLocations::anything(),
            object_store_options: ObjectStoreOptions::from_environment(),
            clock: Arc::new(SystemClock),
        }
    }
}

impl Catalog {
    /// Opens the catalog in a folder, which must exist, and makes an empty one where there is none. One process has it open
    /// at a time.
    ///
    /// # Errors
    /// [`crate::Error::Store`] if another process has it open, or if what is there is damaged, foreign or newer.
    pub async fn open(data_folder: &Path, options: CatalogOptions) -> Result<Self> {
        let path: PathBuf = data_folder.join(DATABASE_FILE);
        let limits = options.limits.in_range();
        let store_options = StoreOptions {
            manifest_target_files: options.manifest_target_files,
            power_loss: options.power_loss,
            late_columns: Some(late_columns::read),
            ..StoreOptions::default()
        };
        let (store, tokens) = blocking::run(move || {
            let store = Store::open_with(&path, &store_options)?;
            let tokens = store.read(Tokens::load)?;
            Ok((store, tokens))
        })
        .await?;
        let storage = Storage::of_catalog(options.object_store_options, &options.allowed_locations);
        let activity = Activity { storage: Arc::clone(storage.activity()), ..Activity::default() };
        let shared = Shared {
            store: Arc::new(store),
            storage,
            allowed: Arc::new(options.allowed_locations),
            obstacle_log: Arc::new(ObstacleLog::new(options.clock.now_ms())),
            clock: options.clock,
            plan_cache: PlanCache::new(options.plan_cache_bytes, &activity.plan_cache),
            activity: Arc::new(activity),
            heads: Arc::default(),
            leases: Arc::default(),
            audit_budget: options.audit_budget,
            audits_begun: Arc::default(),
            files_came: Arc::default(),
            data_folder: data_folder.into(),
            free_bytes_min: options.free_bytes_min,
            journal_days: options.journal_days,
            tokens: Arc::new(tokens),
            limits,
            admission: Arc::new(Admission::new(&limits)),
        };
        let (actor, principal) = (Arc::default(), Arc::new(Principal::anyone()));
        Ok(Self { shared: Arc::new(shared), actor, principal })
    }

    /// The same catalog, whose changes are those of this actor.
    #[must_use]
    pub fn acting_as(&self, actor: Actor) -> Self {
        Self { actor: Arc::new(actor), ..self.clone() }
    }

    /// The same catalog as a principal has it: changes are theirs, and no answer names what they may not see. Whether they may do
    /// what they ask for is for the caller to require.
    #[must_use]
    pub fn on_behalf_of(&self, principal: Arc<Principal>, request_id: String) -> Self {
        let actor = Actor { principal: principal.name().to_owned(), request_id };
        Self { principal, ..self.acting_as(actor) }
    }

    /// Who asks for what is done through this clone.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// What time it is, in milliseconds since 1970-01-01T00:00Z.
    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// An identity that was never given before.
    pub fn new_uuid(&self) -> Uuid {
        self.clock.new_uuid()
    }

    /// How much it takes at once.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Waits until what is due to be sealed into manifests is sealed. Only measurements and tests need it.
    ///
    /// # Errors
    /// [`crate::Error::Store`] if sealing failed.
    pub async fn wait_for_maintenance(&self) -> Result<()> {
        let store = Arc::clone(&self.store);
        blocking::run(move || Ok(store.wait_for_maintenance()?)).await
    }
}
