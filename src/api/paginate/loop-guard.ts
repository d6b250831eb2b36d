import { hash } from 'node:crypto';

/**
 * What has been seen of a listing, in bounded size: the marks of the last pages, which finds a short cycle at once, and
 * one older mark that moves on at powers of two, which finds a cycle of any length within three times its length (Brent).
 */
export type LoopState = {
  /** Marks of the latest pages, the last one last. */
  recent: readonly string[];
  /** Page number of the last of them. */
  page: number;
  anchor: string;
  anchorPage: number;
  reach: number;
};

const RECENT_PAGES = 16;

/** @returns a short mark of a cursor, a URL or a page's content */
export function markOf(text: string): string {
  return hash('sha1', text, 'base64url').slice(0, 12);
}

/**
 * Notes the mark of a page.
 * @param state null for the first page
 * @returns the page that had the same mark, or null; and the state to carry on
 */
export function noteMark(
  state: LoopState | null,
  mark: string,
  page: number,
): { repeats: number | null; state: LoopState } {
  if (state === null)
    return { repeats: null, state: { recent: [mark], page, anchor: mark, anchorPage: page, reach: 1 } };
  const back = state.recent.lastIndexOf(mark);
  const recentPage = back < 0 ? null : state.page - (state.recent.length - 1 - back);
  const repeats = recentPage ?? (mark === state.anchor ? state.anchorPage : null);
  const moves = page - state.anchorPage >= state.reach;
  return {
    repeats,
    state: {
      recent: [...state.recent, mark].slice(-RECENT_PAGES),
      page,
      anchor: moves ? mark : state.anchor,
      anchorPage: moves ? page : state.anchorPage,
      reach: moves ? state.reach * 2 : state.reach,
    },
  };
}
