import { resolve } from 'node:path';
import { buildTree, type ResourceTree } from '../api/resource-tree.ts';
import { resolveResources } from '../api/resources.ts';
import type { Input } from '../config/input-schema.ts';
import { loadInput } from '../config/load-input.ts';
import { readDocument, shownPath } from '../config/read-document.ts';
import { documentSources } from '../config/source-specs.ts';
import { refuseApiProblems } from './api-problems.ts';
import type { Arguments } from './arguments.ts';
import type { Edge } from './run-cli.ts';

/** `millrace validate FILE`: checks an input document without a request, and says what it would fetch. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const path = resolve(edge.cwd, args.operands[0]!);
  const name = shownPath(path, edge.cwd);
  const source = await readDocument(path, edge.cwd);
  const { input } = loadInput(source, []);
  await refuseApiProblems(input, { source, settings: [], baseDir: source.folder, env: edge.env });
  documentSources(input, { name, baseDir: source.folder });
  if (!args.has('--quiet')) edge.stdout.write(`${[`${name} is valid.`, ...describe(input)].join('\n')}\n`);
  return 0;
}

function describe(input: Input): string[] {
  const lines: string[] = [];
  if (input.startUrls.length > 0) lines.push(`  ${input.startUrls.length} start URLs`);
  if (input.urlsFile !== null) lines.push(`  URLs of ${input.urlsFile}`);
  if (input.routes) lines.push('  the routes in src/routes/index.ts');
  if (input.api === undefined) return lines;
  const { tree } = buildTree(resolveResources(input.api));
  const roots = [...tree.values()].filter(({ parent }) => parent === null);
  return [...lines, `  ${input.api.baseUrl}`, ...roots.flatMap(({ resource }) => branch(resource.name, tree, '    '))];
}

/** A resource and, further in, those made from its records. */
function branch(name: string, tree: ResourceTree, indent: string): string[] {
  const { resource, children } = tree.get(name)!;
  const { method, path, paginator } = resource.endpoint;
  const line = `${indent}${name}: ${method} ${path}, pages by ${paginator.type}, into dataset ${resource.dataset}`;
  return [line, ...children.flatMap((child) => branch(child, tree, `${indent}  `))];
}
