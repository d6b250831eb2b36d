import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../core/clock.ts';
import { EnvironmentError, messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { systemRandom } from '../../core/random.ts';
import { openSqliteRun } from './open.ts';
import { type Call, type CarriedError, type LogLevel, methodOf, type Reply, type Request } from './thread-messages.ts';

const port = parentPort;
if (!port) throw new Error('thread-worker.ts runs in a worker thread');
const reply = (message: Reply): void => port.postMessage(message);

const logTo =
  (level: LogLevel): Log['info'] =>
  (message, facts) =>
    reply({ kind: 'log', level, message, facts });
const log: Log = { debug: logTo('debug'), info: logTo('info'), warn: logTo('warn'), error: logTo('error') };

try {
  const store = await openSqliteRun({ ...workerData, ports: { clock: systemClock, random: systemRandom, log } });
  port.on('message', async (request: Request) => {
    if (request !== 'close') return answer(request);
    await store.close();
    port.close();
  });
  reply({ kind: 'opened' });

  async function answer(call: Call): Promise<void> {
    try {
      reply({ kind: 'result', id: call.id, result: await methodOf(store, call)(...call.args) });
    } catch (error) {
      reply({ kind: 'error', id: call.id, error: carried(error) });
    }
  }
} catch (error) {
  reply({ kind: 'failed', error: carried(error) });
  port.close();
}

function carried(error: unknown): CarriedError {
  const stack = error instanceof Error ? error.stack : undefined;
  if (error instanceof EnvironmentError) return { kind: 'environment', message: error.message, stack };
  return { kind: error instanceof TypeError ? 'type' : 'other', message: messageOf(error), stack };
}
