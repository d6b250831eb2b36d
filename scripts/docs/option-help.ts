import { OPTIONS } from '../../src/cli/options.ts';
import { allSettings } from './settings.ts';

const WIDTH = 120;

/** @returns src/cli/option-help.ts: what --help says of the options that set a key of a schema */
export function optionHelpModule(): string {
  const facts = new Map(allSettings().map((setting) => [setting.path, setting]));
  const paths = new Set(Object.values(OPTIONS).flatMap((list) => list.flatMap(({ path }) => path ?? [])));
  const entries = [...paths].map((path) => {
    const setting = facts.get(path);
    if (setting === undefined) throw new Error(`src/cli/options.ts: no schema has the key ${path}`);
    return entryText(path, setting.description, setting.default);
  });
  return `${HEAD}export const OPTION_HELP: Readonly<Record<string, { description: string; default: unknown }>> = {\n${entries.join('')}};\n`;
}

const HEAD = `/** Made by scripts/generate-docs.ts from the schemas in src/config, so that --help need not load them. */\n`;

// As the formatter writes it.
function entryText(path: string, description: string, value: unknown): string {
  const key = /^[A-Za-z]+$/.test(path) ? path : quoted(path);
  const parts = [`description: ${quoted(description)}`, `default: ${valueText(value)}`];
  const line = `  ${key}: { ${parts.join(', ')} },\n`;
  if (line.length <= WIDTH + 1) return line;
  return `  ${key}: {\n${parts.map((part) => `    ${part},\n`).join('')}  },\n`;
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'object' && value !== null ? '{}' : String(value);
}

function quoted(text: string): string {
  const json = JSON.stringify(text);
  return text.includes("'") ? json : `'${json.slice(1, -1).replaceAll('\\"', '"')}'`;
}
