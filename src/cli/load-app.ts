import type { AppCommands } from '../app-commands.ts';

// Not a literal: the type of the app is the contract in app-commands.ts.
const APP_MODULE = '../app.ts';

/** Loads the composition root: with it Crawlee, the database and the HTTP clients. */
export function loadApp(): Promise<AppCommands> {
  return import(APP_MODULE);
}
