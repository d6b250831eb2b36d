import type { AppCommands } from '../app-commands.ts';

/** Loads the composition root: with it Crawlee, the database and the HTTP clients. */
export function loadApp(): Promise<AppCommands> {
  return import('../app.ts');
}
