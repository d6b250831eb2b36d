import { stringify } from 'yaml';
import type { Draft } from './probe-api.ts';

/**
 * The draft as YAML, with its notes as comments.
 * @param schemaPath of docs/millrace.schema.json, relative to where the file will lie, for editors
 */
export function writeDraft(
  { api, notes }: Draft,
  { source, schemaPath }: { source: string; schemaPath: string },
): string {
  const comments = [
    `yaml-language-server: $schema=${schemaPath}`,
    `Made from ${source} by millrace init. Look it over, then: millrace validate FILE, and millrace crawl FILE`,
    ...notes,
  ];
  const head = comments.map((line) => `# ${line.replaceAll(/\s*\n\s*/g, ' ')}\n`).join('');
  return `${head}\n${stringify({ api }, { lineWidth: 0 })}`;
}
