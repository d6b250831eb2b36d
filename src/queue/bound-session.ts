import type { NewRequest } from '../storage/store.ts';

// First in the data: whoever schedules a request sees it without reading the rest.
const KEY = '{"session":';

/** @returns the request as one that only the session may send: a cursor is for the identity that got it */
export function bindToSession<T extends Pick<NewRequest, 'data'>>(request: T, sessionId: string): T {
  const { data } = request;
  const bound = `${KEY}${JSON.stringify(sessionId)}`;
  return { ...request, data: data === null || data === '{}' ? `${bound}}` : `${bound},${data.slice(1)}` };
}

/** @returns id of the session that must send the request; null = any may */
export function boundSessionOf({ data }: Pick<NewRequest, 'data'>): string | null {
  if (data === null || !data.startsWith(`${KEY}"`)) return null;
  return data.slice(KEY.length + 1, data.indexOf('"', KEY.length + 1));
}
