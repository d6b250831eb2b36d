import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A fenced block of a page. */
export type Block = {
  /** "README.md", "docs/api.md" */
  page: string;
  /** Of its opening fence, 1 = the first. */
  line: number;
  /** What follows the fence: "sh", "sh not run: why", "yaml part", "" */
  info: string;
  text: string;
};

/** The pages whose commands are promises. */
export function pages(): string[] {
  const docs = readdirSync(new URL('../../../docs', import.meta.url)).filter((name) => name.endsWith('.md'));
  return ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`)];
}

/** @param page path from the root of the project */
export function blocksOf(page: string): Block[] {
  return parseBlocks(page, readFileSync(`${ROOT}${page}`, 'utf8'));
}

export function parseBlocks(page: string, markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: (Block & { fence: string }) | null = null;
  for (const [index, line] of markdown.split('\n').entries()) {
    if (open === null) {
      const [, fence, info] = /^\s*(`{3,})(.*)$/.exec(line) ?? [];
      if (fence !== undefined) open = { page, line: index + 1, info: (info ?? '').trim(), text: '', fence };
    } else if (line.trim() === open.fence) {
      const { fence, ...block } = open;
      blocks.push(block);
      open = null;
    } else open.text += `${line}\n`;
  }
  if (open !== null) throw new Error(`${page}:${open.line}: a block is not closed`);
  return blocks;
}

/** @returns why a block of commands is not run; null when it is */
export function reasonNotRun({ info }: Block): string | null {
  return /^sh not run: (\S.{9,})$/.exec(info)?.[1] ?? null;
}

export function isShell({ info }: Block): boolean {
  return info === 'sh' || info.startsWith('sh ');
}
