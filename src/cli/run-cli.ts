import { readFileSync } from 'node:fs';
import type { WriteStream } from 'node:tty';
import type { CommandContext } from '../app-commands.ts';
import { UsageError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest-name.ts';
import { type Arguments, parseArguments } from './arguments.ts';
import { commandHelp, commandNamed, programHelp } from './commands.ts';
import { COMMAND_SUMMARIES, type CommandName } from './options.ts';

/** The process, as a command sees it; the log comes with its arguments. */
export type Edge = Pick<CommandContext, 'signal' | 'stdout' | 'stdin' | 'env'> & {
  ports: Omit<CommandContext['ports'], 'log'>;
  stderr: Pick<WriteStream, 'write'> & { isTTY?: boolean; columns?: number };
  cwd: string;
};

/** A command: arguments in, exit code out. */
export type CommandModule = { run(args: Arguments, edge: Edge): Promise<number> };

const HELP_COLUMNS = 100;

// Loaded when run: --help and a wrong option need no schema, no database and no crawler.
const MODULES: Record<CommandName, () => Promise<CommandModule>> = {
  crawl: () => import('./crawl.ts'),
  export: () => import('./export.ts'),
  status: () => import('./status.ts'),
  worker: () => import('./worker.ts'),
  'retry-failed': () => import('./retry-failed.ts'),
  revalidate: () => import('./revalidate.ts'),
  recover: () => import('./recover.ts'),
  init: () => import('./init.ts'),
  validate: () => import('./validate.ts'),
  probe: () => import('./probe.ts'),
  ramp: () => import('./ramp.ts'),
  bench: () => import('./bench.ts'),
  'practice-api': () => import('./practice-api.ts'),
};

/**
 * Runs the command that the arguments name.
 * @param argv without node and the script
 * @returns the exit code
 * @throws UsageError, EnvironmentError, the signal's reason, or anything unexpected
 */
export async function runCli(argv: readonly string[], edge: Edge): Promise<number> {
  const answer = answerWithoutCommand(argv, columnsOf(edge.stdout, HELP_COLUMNS));
  if (answer !== null) return say(answer, edge);
  const named = commandNamed(argv[0]);
  const name = named ?? 'crawl';
  const rest = named === null ? argv : argv.slice(1);
  if (asksForHelp(rest)) return say(commandHelp(name, columnsOf(edge.stdout, HELP_COLUMNS)), edge);
  const args = parseArguments(name, rest);
  const command = await MODULES[name]();
  return command.run(args, edge);
}

/** @returns the width of the terminal a stream is, or `otherwise` when it is none */
export function columnsOf(stream: object, otherwise: number): number {
  return 'columns' in stream && typeof stream.columns === 'number' ? stream.columns : otherwise;
}

function answerWithoutCommand(argv: readonly string[], width: number): string | null {
  const [word, second] = argv;
  if (word === '--version' || word === '-V') return `${version()}\n`;
  if (word === '--help' || word === '-h') return programHelp(width);
  if (word !== 'help') return null;
  if (second === undefined) return programHelp(width);
  const name = commandNamed(second);
  if (name !== null) return commandHelp(name, width);
  const known = Object.keys(COMMAND_SUMMARIES);
  throw new UsageError(`There is no command ${second}.${didYouMean(second, known)} There are ${known.join(', ')}.`);
}

function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const options = end < 0 ? argv : argv.slice(0, end);
  return options.includes('--help') || options.includes('-h');
}

function say(text: string, edge: Edge): number {
  edge.stdout.write(text);
  return 0;
}

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
