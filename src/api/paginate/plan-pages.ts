import type { NextPage, PageState } from './paginator.ts';

// One transaction takes them all; the last of a batch plans the next.
export const PLANNED_PAGES_AT_ONCE = 10_000;

/**
 * Pages that are asked for together. All but the last carry `planned`: nothing follows from them. The last one is a
 * page like any other, so that a listing that has grown meanwhile goes on.
 */
export function* planPages(count: number, make: (index: number) => NextPage): Generator<NextPage> {
  const planned = Math.min(count, PLANNED_PAGES_AT_ONCE);
  for (let index = 0; index < planned; index++) {
    const page = make(index);
    yield index < planned - 1 ? { ...page, state: { ...page.state, planned: true } } : page;
  }
}

export function isPlanned(state: PageState): boolean {
  return state.planned === true;
}
