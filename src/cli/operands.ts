import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { shownPath } from '../config/read-document.ts';
import { isDocumentName } from '../config/source-specs.ts';
import { didYouMean, nearestName } from '../core/nearest-name.ts';
import { COMMAND_SUMMARIES } from './options.ts';

/** What one INPUT of the command line is. `path` is absolute. */
export type Operand =
  | { kind: 'url'; url: string }
  | { kind: 'stdin' }
  | { kind: 'list'; path: string }
  | { kind: 'document'; path: string }
  | { kind: 'problem'; text: string };

const LIST_NAME = /\.(txt|csv|tsv|jsonl|ndjson|json|ya?ml|gz)$/i;

/** Tells what an INPUT is: a URL by its scheme, "-", or a file that is there. */
export async function classifyOperand(operand: string, cwd: string): Promise<Operand> {
  if (operand === '-') return { kind: 'stdin' };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(operand)) return urlOperand(operand);
  const path = resolve(cwd, operand);
  const found = await stat(path).catch(() => null);
  if (found === null) return { kind: 'problem', text: await missingFileText(operand, path) };
  if (found.isDirectory()) return { kind: 'problem', text: `${operand}: it is a folder, not a file.` };
  return { kind: isDocumentName(path) ? 'document' : 'list', path };
}

/** Tells whether the file that --input names can be an input document. */
export async function classifyDocument(file: string, cwd: string): Promise<Operand> {
  const path = resolve(cwd, file);
  const found = await stat(path).catch(() => null);
  if (found === null) return { kind: 'problem', text: `--input: ${await missingFileText(file, path)}` };
  if (isDocumentName(path)) return { kind: 'document', path };
  const text = `--input: ${shownPath(path, cwd)} must be a .yaml or .json document. A list of URLs is given without --input.`;
  return { kind: 'problem', text };
}

function urlOperand(text: string): Operand {
  if (!URL.canParse(text)) return { kind: 'problem', text: `${text}: this is not a URL that can be read.` };
  const url = new URL(text);
  if (url.protocol === 'http:' || url.protocol === 'https:') return { kind: 'url', url: text };
  return { kind: 'problem', text: `${text}: only http and https URLs can be crawled.` };
}

async function missingFileText(operand: string, path: string): Promise<string> {
  const neighbours = await readdir(dirname(path)).catch(() => []);
  const file = nearestName(basename(path), neighbours);
  if (file !== null)
    return `${operand}: there is no such file. Did you mean ${operand.slice(0, -basename(path).length)}${file}?`;
  if (/^[\w-]+$/.test(operand)) {
    const commands = Object.keys(COMMAND_SUMMARIES);
    return `${operand}: there is no such file, nor such a command.${didYouMean(operand, commands)} See millrace --help.`;
  }
  if (looksLikeUrl(operand)) return `${operand}: there is no such file. For a URL write it whole: https://${operand}`;
  return `${operand}: there is no such file.`;
}

function looksLikeUrl(operand: string): boolean {
  const startsWithHost = /^(localhost|[\w-]+(\.[\w-]+)+)(:\d+)?(\/|\?|$)/.test(operand);
  return startsWithHost && !LIST_NAME.test(operand) && URL.canParse(`https://${operand}`);
}
