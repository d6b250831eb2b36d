/** One value that stands above the document: from an option of the command line. */
export type Setting = {
  /** Where in the document; ["hosts", "*", ...] = for every host. */
  path: readonly string[];
  value: unknown;
  /** The option as typed, for messages: "--timeout". */
  name: string;
  /** What the value was multiplied by when it was typed in another unit than the schema's; 1 when left out. */
  scale?: number;
};

type Plain = Record<string, unknown>;

/**
 * Lays settings over a document; neither is changed. A setting for every host becomes one of `hosts.default` and is
 * taken out of all other entries, so that it holds for them too. Headers are told apart without regard to case.
 */
export function layOver(document: unknown, settings: readonly Setting[]): unknown {
  if (!isPlain(document)) return document;
  return settings.reduce((below: Plain, { path, value }) => layOne(below, path, value), document);
}

function layOne(document: Plain, path: readonly string[], value: unknown): Plain {
  const [first, second, ...rest] = path;
  if (first === 'hosts' && second === '*') return { ...document, hosts: withForAllHosts(document.hosts, rest, value) };
  if (first === 'headers') return { ...document, headers: withHeaders(document.headers, value) };
  return withValue(document, path, value);
}

/** @returns where a setting for every host is put in the document, or the path itself */
export function settledPath(path: readonly string[]): string[] {
  return path.map((key, index) => (key === '*' && index === 1 && path[0] === 'hosts' ? 'default' : key));
}

function withForAllHosts(hosts: unknown, path: readonly string[], value: unknown): unknown {
  if (hosts !== undefined && !isPlain(hosts)) return hosts;
  const cleared = Object.entries(hosts ?? {}).map(([name, entry]) => [
    name,
    isPlain(entry) ? without(entry, path) : entry,
  ]);
  const entries: Plain = Object.fromEntries(cleared);
  const below = entries.default ?? {};
  return { ...entries, default: isPlain(below) ? withValue(below, path, value) : below };
}

function withHeaders(headers: unknown, added: unknown): unknown {
  if (!isPlain(added) || (headers !== undefined && !isPlain(headers))) return headers;
  const names = new Set(Object.keys(added).map((name) => name.toLowerCase()));
  const kept = Object.entries(headers ?? {}).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...added };
}

function withValue(parent: Plain, [key, ...rest]: readonly string[], value: unknown): Plain {
  if (key === undefined) return parent;
  if (rest.length === 0) return { ...parent, [key]: value };
  const child = parent[key] ?? {};
  return isPlain(child) ? { ...parent, [key]: withValue(child, rest, value) } : parent;
}

function without(parent: Plain, [key, ...rest]: readonly string[]): Plain {
  if (key === undefined || !Object.hasOwn(parent, key)) return parent;
  const { [key]: child, ...others } = parent;
  return rest.length > 0 && isPlain(child) ? { ...others, [key]: without(child, rest) } : others;
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
