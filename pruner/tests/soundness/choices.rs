//! A source of choices for generators: what proptest shrinks is the list, where zero is the simplest choice.

pub(crate) struct Choices {
    list: Vec<u32>,
    at: usize,
}

impl Choices {
    pub(crate) fn new(list: Vec<u32>) -> Self {
        Self { list, at: 0 }
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let choice = self.list.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        choice as usize % limit
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub(crate) fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    pub(crate) fn text<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}
