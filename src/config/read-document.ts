import { readFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { isMap, isPair, isScalar, LineCounter, parseDocument, type Document as YamlDocument } from 'yaml';
import { messageOf, UsageError } from '../core/errors.ts';
import { fileProblem } from './file-problem.ts';
import type { SourceDocument } from './parse-settings.ts';

export type ReadDocument = SourceDocument & { /** Absolute folder it lies in. */ folder: string };

/**
 * Reads an input document, YAML or JSON.
 * @param path absolute
 * @param cwd what the file's name in messages is relative to
 * @throws UsageError when it cannot be read or is neither, with line and column
 */
export async function readDocument(path: string, cwd: string): Promise<ReadDocument> {
  const name = shownPath(path, cwd);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(fileProblem(name, error), { cause: error });
  });
  return { ...parseText(text, name), folder: dirname(path) };
}

/** @returns the path as people type it: relative where that is shorter */
export function shownPath(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short === '' || short.startsWith('..') ? path : short;
}

/** @throws UsageError when the text is neither YAML nor JSON, or no object */
export function parseText(text: string, name: string): SourceDocument {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const value = parsedJson(source);
  // JSON.parse is a hundred times faster than a parser that keeps positions, which are needed only for a message.
  if (value !== undefined) return withPlaces(value, name, () => parseYaml(source));
  const yaml = parseYaml(source);
  refuseSyntaxErrors(yaml, name);
  return withPlaces(yamlValue(yaml, name), name, () => yaml);
}

type Yaml = { document: YamlDocument; lines: LineCounter };

function parseYaml(text: string): Yaml {
  const lines = new LineCounter();
  // Merge keys (<<) are YAML 1.1; people use them all the same.
  return { document: parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true }), lines };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not JSON: YAML then, or an error that the YAML parser gives a place.
  }
}

function refuseSyntaxErrors({ document, lines }: Yaml, name: string): void {
  if (document.errors.length === 0) return;
  throw new UsageError(
    document.errors.map((error) => {
      const { line, col } = lines.linePos(error.pos[0]);
      return `${name}:${line}:${col}: ${error.message.replaceAll('\n', ' ')}`;
    }),
  );
}

function yamlValue({ document }: Yaml, name: string): unknown {
  try {
    return document.toJS() ?? {};
  } catch (error) {
    throw new UsageError(`${name}: ${messageOf(error)}`, { cause: error });
  }
}

function withPlaces(value: unknown, name: string, parse: () => Yaml): SourceDocument {
  if (Array.isArray(value)) {
    throw new UsageError(
      `${name}: an input document is an object, and this is a list. For a list of URLs write {"startUrls": [...]}, or a .jsonl file.`,
    );
  }
  let parsed: Yaml | undefined;
  return {
    value,
    placeOf: (path, { key }) => {
      parsed ??= parse();
      const offset = offsetOf(parsed.document, path, key);
      if (offset === null) return name;
      const { line, col } = parsed.lines.linePos(offset);
      return `${name}:${line}:${col}`;
    },
  };
}

/** Offset of the key or value at the path, or of the nearest thing above it that is there. */
function offsetOf(document: YamlDocument, path: readonly PropertyKey[], key: boolean): number | null {
  for (let length = path.length; length > 0; length--) {
    const isWhole = length === path.length;
    const offset = nodeOffset(document, path.slice(0, length), key || !isWhole);
    if (offset !== null) return offset;
  }
  return null;
}

function nodeOffset(document: YamlDocument, path: readonly PropertyKey[], key: boolean): number | null {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (key && isMap(parent)) {
    const name = String(path.at(-1));
    const pair = parent.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === name);
    return isScalar(pair?.key) ? (pair.key.range?.[0] ?? null) : null;
  }
  const node = document.getIn(path, true) as { range?: [number, number, number] } | undefined;
  return node?.range?.[0] ?? null;
}
