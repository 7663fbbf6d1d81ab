/** A page, and how to get the next one. */
export interface Paged<Page> {
  readonly page: Page
  /** Undefined: this was the last. */
  readonly next: (() => Promise<Paged<Page>>) | undefined
}

/** Awaited, it is the first page; iterated, every item of every page, asked for as they are needed. */
export interface Listing<Page, Item> extends PromiseLike<Page>, AsyncIterable<Item> {
  /** Page by page. */
  pages(): AsyncIterable<Page>
}

/** Nothing is asked for before somebody awaits or iterates. */
export function createListing<Page, Item>(
  first: () => Promise<Paged<Page>>,
  itemsOf: (page: Page) => readonly Item[],
): Listing<Page, Item> {
  async function* pages(): AsyncGenerator<Page, void, undefined> {
    let step: Paged<Page>['next'] = first
    while (step !== undefined) {
      const { page, next }: Paged<Page> = await step()
      yield page
      step = next
    }
  }
  return {
    // biome-ignore lint/suspicious/noThenProperty: a listing is awaited for its first page
    then: (onPage, onError) =>
      first()
        .then(({ page }) => page)
        .then(onPage, onError),
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* itemsOf(page)
    },
  }
}
