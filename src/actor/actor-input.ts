import { UsageError } from '../core/errors.ts';

/** The input of an Actor run, taken apart. */
export type ActorInput = {
  /** The input document, as src/config knows it. */
  document: Record<string, unknown>;
  /** For references `${env:NAME}`, which the document's author has no other way to give. */
  secrets: Readonly<Record<string, string>>;
  /** Lists of URLs that are to be fetched: `requestsFromUrl` of Apify's editor for start URLs. */
  listUrls: readonly string[];
};

type StartUrl = Record<string, unknown> & { requestsFromUrl?: unknown };

// What Apify's editor for start URLs adds and nothing here needs.
const OF_THE_EDITOR = new Set(['id', 'requestsFromUrl', 'regex', 'uniqueKey']);

/**
 * Reads the input of an Actor run: the input document, and beside it `secrets`. Its own start URLs are those of Apify's
 * editor. As an Actor, private addresses are refused unless the input allows them.
 * @throws UsageError when it is none
 */
export function readActorInput(raw: unknown): ActorInput {
  if (!isObject(raw)) throw new UsageError('There is no input: give startUrls, api, or routes: true.');
  const { secrets = {}, startUrls, ...rest } = raw;
  if (!isTexts(secrets)) throw new UsageError('secrets: must be an object of texts, such as {"API_TOKEN": "..."}.');
  const entries: unknown[] = Array.isArray(startUrls) ? startUrls : [];
  const urls = entries.filter((entry) => !isListEntry(entry)).map(withoutEditorKeys);
  const document = {
    blockPrivateAddresses: true,
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...(startUrls === undefined || startUrls === null
      ? {}
      : { startUrls: Array.isArray(startUrls) ? urls : startUrls }),
  };
  return { document, secrets, listUrls: entries.filter(isListEntry).map(({ requestsFromUrl }) => requestsFromUrl) };
}

function isListEntry(entry: unknown): entry is { requestsFromUrl: string } {
  return isObject(entry) && typeof (entry as StartUrl).requestsFromUrl === 'string';
}

function withoutEditorKeys(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !OF_THE_EDITOR.has(key)));
}

function isTexts(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((text) => typeof text === 'string');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
