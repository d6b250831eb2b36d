// Follows a growing dataset until it is killed: a process of its own, so that kill -9 is a real one.
import { DatabaseSync } from 'node:sqlite';
import { silentLog } from '../../../src/core/log.ts';
import { openFollower } from '../../../src/export/follow.ts';

const [databasePath, path] = process.argv.slice(2) as [string, string];
const database = new DatabaseSync(databasePath);
const rows = database.prepare('select seq, json from rows where seq > ? order by seq limit ?');
const load = database.prepare('select seq, bytes from position');
const save = database.prepare('update position set seq = ?, bytes = ?');
const insert = database.prepare('insert into position values (?, ?)');

const follower = await openFollower({
  page: async ({ afterSeq }) => rows.all(afterSeq, 7) as { seq: number; json: string }[],
  position: {
    load: async () => (load.get() as { seq: number; bytes: number } | undefined) ?? null,
    save: async ({ seq, bytes }) => {
      // A kill can land on either side of this.
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (load.get() === undefined) insert.run(seq, bytes);
      else save.run(seq, bytes);
    },
  },
  destination: { path },
  log: silentLog,
});
process.stdout.write('ready\n');
await follower.catchUp();
await follower.close();
process.exit(0);
