import { inspect } from 'node:util';
import { boundYoungGeneration } from './app/young-generation.ts';
import { type Edge, runCli } from './cli/run-cli.ts';
import { systemClock } from './core/clock.ts';
import { CrawlError, EnvironmentError, messageOf, UsageError } from './core/errors.ts';
import { failureAdvice } from './core/failure-advice.ts';
import { systemRandom } from './core/random.ts';
import { StopSignal } from './core/stop-signal.ts';

// npm hands on the SIGINT that the terminal has already sent to the whole group: both are one Ctrl-C.
const SAME_SIGNAL_MS = 300;
// npx runs its command by a shell that a SIGTERM ends without handing it on: its children then have another parent.
const PARENT_CHECK_MS = 500;

// What a write meets once nobody reads, and every write after it.
const CLOSED_PIPE: ReadonlySet<string> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

/** Exit codes of errors; a command's own result and the signals' are given by them. */
const FAILED = 1;
const BAD_USAGE = 2;

type Stop = { signal: AbortSignal; request: (reason: StopSignal) => void };

/** Runs the process: arguments, environment, signals, exit code. Ends it when the command has ended. */
export async function main(process: NodeJS.Process): Promise<void> {
  const argv = process.argv.slice(2);
  const fail = (error: unknown): never => process.exit(reportError(error, process));
  process.on('uncaughtException', fail);
  ignoreClosedPipes(process);
  boundYoungGeneration();
  const stop = stopOnSignals(process);
  followParent(process, stop);
  const edge = edgeOf(process, stop.signal);
  const exitCode = await (isActor(process) ? runAsActor(edge) : runCli(argv, edge)).catch(fail);
  process.stdout.write('', () => process.exit(exitCode));
}

/** Whether Apify's platform has started us: it gives no arguments, and an input document of its own. */
function isActor({ argv, env }: NodeJS.Process): boolean {
  return argv.length === 2 && Boolean(env.APIFY_IS_AT_HOME);
}

async function runAsActor(edge: Edge): Promise<number> {
  const { runActor } = await import('./actor/run-actor.ts');
  return runActor(edge);
}

function edgeOf(process: NodeJS.Process, signal: AbortSignal): Edge {
  const { stdout, stdin, stderr, env } = process;
  return {
    ports: { clock: systemClock, random: systemRandom },
    signal,
    stdout,
    stdin,
    stderr,
    env,
    cwd: process.cwd(),
  };
}

function stopOnSignals(process: NodeJS.Process): Stop {
  const controller = new AbortController();
  let stoppedAtMs = 0;
  const request = (reason: StopSignal): void => {
    const nowMs = systemClock.nowMs();
    if (!controller.signal.aborted) {
      stoppedAtMs = nowMs;
      controller.abort(reason);
    } else if (nowMs - stoppedAtMs > SAME_SIGNAL_MS) process.exit(reason.exitCode);
  };
  process.on('SIGINT', () => request(new StopSignal('SIGINT')));
  process.on('SIGTERM', () => request(new StopSignal('SIGTERM')));
  return { signal: controller.signal, request };
}

function followParent(process: NodeJS.Process, stop: Stop): void {
  if (process.env.npm_command !== 'exec') return;
  const parent = process.ppid;
  const check = (): void => {
    if (process.ppid === parent) systemClock.schedule(PARENT_CHECK_MS, check);
    else if (!stop.signal.aborted) stop.request(new StopSignal('SIGTERM'));
  };
  systemClock.schedule(PARENT_CHECK_MS, check);
}

/** Whoever reads our output may stop reading (`| head`): no reason to complain, nor to stop a crawl. */
function ignoreClosedPipes(process: NodeJS.Process): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!CLOSED_PIPE.has(error.code ?? '')) throw error;
    });
  }
}

/** Says what went wrong, one line a problem. @returns the exit code */
function reportError(error: unknown, { argv, stderr }: NodeJS.Process): number {
  if (error instanceof StopSignal) return error.exitCode;
  const isVerbose = argv.includes('--verbose');
  for (const line of linesOf(error, isVerbose)) stderr.write(`millrace: ${line}\n`);
  return error instanceof UsageError ? BAD_USAGE : FAILED;
}

function linesOf(error: unknown, isVerbose: boolean): readonly string[] {
  if (error instanceof UsageError) return error.problems;
  if (isVerbose) return [inspect(error)];
  if (error instanceof EnvironmentError) return [messageOf(error)];
  // One that ends the crawl is no surprise: what to do is known by its code.
  if (error instanceof CrawlError) return [`${messageOf(error)}.`, `${error.code}: ${failureAdvice(error.code)}`];
  return [`Something unexpected went wrong: ${messageOf(error)}`, 'Run it again with --verbose for the details.'];
}
