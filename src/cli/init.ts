import { access, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { parse } from 'yaml';
import { draftFromOpenApi } from '../api/init/openapi-api.ts';
import { OpenApiError } from '../api/init/openapi-document.ts';
import { type Draft, draftFromResponse } from '../api/init/probe-api.ts';
import { writeDraft } from '../api/init/write-draft.ts';
import { fileProblem } from '../config/file-problem.ts';
import { loadInput } from '../config/load-input.ts';
import { emptyDocument } from '../config/parse-settings.ts';
import { shownPath } from '../config/read-document.ts';
import { messageOf, UsageError } from '../core/errors.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { type Fetched, fetchOnce } from './fetch-once.ts';
import { overridesOf } from './overrides.ts';
import type { Edge } from './run-cli.ts';

/** `millrace init URL|openapi.yaml`: writes a starting input document. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const source = args.operands[0]!;
  const output = args.text('--output');
  if (output !== undefined) await refuseToReplace(resolve(edge.cwd, output), args, edge);
  const draft = await draftFrom(source, args, edge);
  const folder = output === undefined ? edge.cwd : dirname(resolve(edge.cwd, output));
  const text = writeDraft(draft, { source: sourceName(source), schemaPath: schemaPathFrom(folder) });
  if (output === undefined) edge.stdout.write(text);
  else await writeDocument(resolve(edge.cwd, output), text);
  if (output !== undefined && !args.has('--quiet'))
    edge.stderr.write(`${output} is written: millrace validate ${output} checks it.\n`);
  return 0;
}

async function draftFrom(source: string, args: Arguments, edge: Edge): Promise<Draft> {
  try {
    return /^https?:\/\//i.test(source) ? await draftFromUrl(source, args, edge) : await draftFromFile(source, edge);
  } catch (error) {
    if (error instanceof OpenApiError)
      throw new UsageError(`${sourceName(source)}: ${error.message}.`, { cause: error });
    throw error;
  }
}

async function draftFromFile(source: string, edge: Edge): Promise<Draft> {
  const path = resolve(edge.cwd, source);
  const name = shownPath(path, edge.cwd);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(fileProblem(name, error), { cause: error });
  });
  const body = parseAny(text, name);
  if (typeof body === 'object' && body !== null && 'api' in body)
    throw new UsageError(
      `${name} is an input document already: millrace validate ${name}, then millrace crawl ${name}.`,
    );
  return draftFromOpenApi(body, null);
}

async function draftFromUrl(url: string, args: Arguments, edge: Edge): Promise<Draft> {
  const { input } = loadInput(emptyDocument(), overridesOf(args));
  const { ports } = await contextOf(args, edge);
  const fetched = await fetchOnce({ url, headers: input.headers }, { input, ports, signal: edge.signal });
  const body = parseAny(fetched.text, sourceName(url));
  if (typeof body !== 'object' || body === null) throw new UsageError(noApi(url, fetched));
  if (isOpenApi(body)) return draftFromOpenApi(body, fetched.url);
  return withHeaders(draftFromResponse({ ...fetched, body }), input.headers, fetched);
}

function noApi(url: string, { text }: Fetched): string {
  const what = /^\s*</.test(text) ? 'an HTML or XML page' : `${JSON.stringify(text.slice(0, 40))}`;
  return `${sourceName(url)} answered with ${what}, not with JSON records: give the URL of the API itself, as its documentation names it, with what it needs by --header.`;
}

// Their values may be secrets: the document names variables instead.
function withHeaders(draft: Draft, headers: Readonly<Record<string, string>>, { url }: Fetched): Draft {
  const names = Object.keys(headers);
  if (names.length === 0) return draft;
  const variable = (name: string): string => `\${env:${name.toUpperCase().replaceAll(/\W+/g, '_')}}`;
  const { baseUrl, ...rest } = draft.api;
  return {
    api: { baseUrl, headers: Object.fromEntries(names.map((name) => [name, variable(name)])), ...rest },
    notes: [...draft.notes, `Headers: their values for ${new URL(url).host} come from environment variables`],
  };
}

function isOpenApi(body: unknown): boolean {
  return typeof body === 'object' && body !== null && ('openapi' in body || 'swagger' in body);
}

/** JSON is YAML too. */
function parseAny(text: string, name: string): unknown {
  try {
    return text.trimStart().startsWith('{') || text.trimStart().startsWith('[') ? JSON.parse(text) : parse(text);
  } catch (error) {
    throw new UsageError(`${name} is neither JSON nor YAML: ${messageOf(error)}`, { cause: error });
  }
}

/** A URL without its query and credentials: a key may be in them. */
function sourceName(source: string): string {
  const url = /^https?:/i.test(source) ? URL.parse(source) : null;
  return url === null ? source : `${url.origin}${url.pathname}`;
}

function schemaPathFrom(folder: string): string {
  const path = relative(folder, resolve(import.meta.dirname, '../../docs/millrace.schema.json')).replaceAll('\\', '/');
  return path.startsWith('.') ? path : `./${path}`;
}

async function refuseToReplace(path: string, args: Arguments, edge: Edge): Promise<void> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere && !args.has('--force'))
    throw new UsageError(`${shownPath(path, edge.cwd)} is there already: --force replaces it.`);
}

async function writeDocument(path: string, text: string): Promise<void> {
  try {
    await writeFile(`${path}.tmp`, text);
    await rename(`${path}.tmp`, path);
  } catch (error) {
    throw new UsageError(fileProblem(path, error), { cause: error });
  }
}
