// Makes a new run of what can be read of a damaged one, and says what came over.
// node examples/recover-run/main.ts DAMAGED NEW [storage folder]
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { systemRandom } from '../../src/core/random.ts';
import { recoverRun } from '../../src/storage/recover-run.ts';

const [from, to, storageDir = 'storage'] = process.argv.slice(2);
if (!from || !to) {
  process.stderr.write('Usage: node examples/recover-run/main.ts DAMAGED NEW [storage folder]\n');
  process.exit(2);
}
const ports = { clock: systemClock, random: systemRandom, log: silentLog };
const recovered = await recoverRun({ storageDir, from, to, ports });
process.stdout.write(`${JSON.stringify(recovered, null, 2)}\n`);
