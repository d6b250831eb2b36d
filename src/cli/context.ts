import type { CommandContext } from '../app-commands.ts';
import { createJsonLog, createPrettyLog, type LogLevel } from '../report/console-log.ts';
import { LiveArea, wantsColor } from '../report/terminal.ts';
import type { Arguments } from './arguments.ts';
import type { Edge } from './run-cli.ts';

/** @returns what the app is handed: the edge, with the log that --quiet, --verbose and --log-format ask for */
export async function contextOf(args: Arguments, edge: Edge): Promise<CommandContext> {
  const { ports, signal, stdout, stdin, stderr, env } = edge;
  const area = new LiveArea(stderr);
  const color = wantsColor(env, stderr);
  const options = { level: logLevel(args), clock: ports.clock };
  const isJson = args.text('--log-format') === 'json';
  const log = isJson
    ? await createJsonLog({ stream: stderr, ...options })
    : createPrettyLog({ area, color, ...options });
  return { ports: { ...ports, log }, signal, stdout, stdin, area, color, env };
}

function logLevel(args: Arguments): LogLevel {
  if (args.has('--verbose')) return 'verbose';
  return args.has('--quiet') ? 'quiet' : 'info';
}
