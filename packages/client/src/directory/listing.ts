/** A page, and how to get the next one. */
export interface Paged<Page> {
  readonly page: Page
  /** Undefined for the last page. */
  readonly next: (() => Promise<Paged<Page>>) | undefined
}

/** Await it for the first page, or iterate over the items of all pages, which are requested as needed. */
export interface Listing<Page, Item> extends PromiseLike<Page>, AsyncIterable<Item> {
  /** Iterates over pages instead of items. */
  pages(): AsyncIterable<Page>
}

/** Creates a listing, which sends no request until it is awaited or iterated. */
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
