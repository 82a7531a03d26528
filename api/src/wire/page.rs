//! Pages.

use prunus_catalog::{Fault, MAX_PAGE_SIZE, PageSize};

/// The size of a page: what is asked for, or the default.
pub(crate) fn page_size(asked: Option<u32>) -> Result<PageSize, Vec<Fault>> {
    let fault = |_| vec![Fault::at("page_size", format!("page_size is not from 1 to {MAX_PAGE_SIZE}"))];
    asked.map_or(Ok(PageSize::default()), |size| PageSize::new(size).map_err(fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_as_large_as_asked_for_up_to_the_limit() {
        assert_eq!(page_size(None), Ok(PageSize::default()));
        assert_eq!(page_size(Some(MAX_PAGE_SIZE)).map(PageSize::get), Ok(MAX_PAGE_SIZE));
        assert!(page_size(Some(MAX_PAGE_SIZE + 1)).is_err());
        assert!(page_size(Some(0)).is_err());
    }
}
