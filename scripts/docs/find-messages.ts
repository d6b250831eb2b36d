import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';

/** A message as the sources have it; `…` stands for what is filled in. */
export type Message = { file: string; text: string };

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));
// What is shown by a page or by the practice API.
const NOT_MESSAGES = /^(report\/html|practice-api)\//;
// What is typed wrongly is told of by functions that hand their sentences on to other files.
const ALL_OF_IT = /^(cli|config|queue\/sources)\//;
// Help, examples and descriptions: they have pages of their own.
const OTHER_TEXT = /^cli\/(options|option-help|examples|commands)\.ts$|-schema\.ts$/;
const LEAST_WORDS = 4;

type Node = { type: string; [key: string]: unknown };

/** Every sentence of ours that a user can meet: what errors say, what is logged, what is listed as a problem. */
export function findMessages(): Message[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .sort();
  return files.filter((file) => !NOT_MESSAGES.test(file)).flatMap((file) => messagesOf(file));
}

function messagesOf(file: string): Message[] {
  const { program } = parseSync(file, readFileSync(join(SOURCES, file), 'utf8'));
  const all = nodesBelow(program as unknown as Node);
  const isTold = ALL_OF_IT.test(file) && !OTHER_TEXT.test(file);
  const said = all.filter(isSaid).flatMap((node) => node.arguments as Node[]);
  const texts = [
    ...textsIn(said, { declared: declarationsOf(all), seen: new Set() }),
    ...(isTold ? textsIn([program as unknown as Node]).filter((text) => /[.?]$/.test(text)) : []),
  ];
  return [...new Set(texts)].map((text) => ({ file, text }));
}

/** What names of the file stand for: the bodies of functions, and what variables begin with. */
function declarationsOf(nodes: readonly Node[]): Map<string, Node> {
  const found = new Map<string, Node>();
  for (const { type, id, body, init } of nodes) {
    const name = nameOf(id);
    const value = type === 'FunctionDeclaration' ? body : type === 'VariableDeclarator' ? init : null;
    if (name !== null && isNode(value)) found.set(name, value);
  }
  return found;
}

/** `new SomeError(...)`, `super(...)` of one, `log.warn(...)`, `problems.push(...)`. */
function isSaid({ type, callee }: Node): boolean {
  const called = callee as Node | undefined;
  if (type === 'NewExpression') return /Error$/.test(nameOf(called) ?? '') && nameOf(called) !== 'TypeError';
  if (type !== 'CallExpression') return false;
  if (called?.type !== 'MemberExpression') return false;
  const object = nameOf(called.object) ?? nameOf((called.object as Node).property) ?? '';
  const method = nameOf(called.property) ?? '';
  return (
    (/^log$/i.test(object) && /^(info|warn|warning|error)$/.test(method)) ||
    (object === 'problems' && method === 'push')
  );
}

type Names = { declared: ReadonlyMap<string, Node>; seen: Set<Node> };

/** The sentences among these; with names, those that functions and variables of the same file give as well. */
function textsIn(nodes: readonly Node[], names?: Names): string[] {
  return nodes.flatMap((node): string[] => {
    const text = textOf(node);
    // What is within a template is a part of its sentence.
    if (text !== null) return isSentence(text) ? [text] : [];
    const value = names?.declared.get(nameOf(node) ?? '');
    const isNew = value !== undefined && !names?.seen.has(value);
    if (isNew) names?.seen.add(value);
    return textsIn([...childrenOf(node), ...(isNew ? [value] : [])], names);
  });
}

function textOf(node: Node): string | null {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'TemplateLiteral')
    return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('…');
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return null;
  const [left, right] = [textOf(node.left as Node), textOf(node.right as Node)];
  return left === null && right === null ? null : `${left ?? '…'}${right ?? '…'}`;
}

function isSentence(text: string): boolean {
  return text.trim().split(/\s+/).length >= LEAST_WORDS;
}

function nameOf(node: unknown): string | null {
  const named = node as Node | null | undefined;
  return named?.type === 'Identifier' && typeof named.name === 'string' ? named.name : null;
}

/** The node and all below it, in order. */
function nodesBelow(node: Node): Node[] {
  return [node, ...childrenOf(node).flatMap(nodesBelow)];
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}
