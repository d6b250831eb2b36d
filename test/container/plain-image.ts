import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Instruction, readDockerfile, type Stage } from './dockerfile.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const isRoot = process.getuid?.() === 0;
// The user "node" of the official images.
const NODE_USER = { uid: 1000, gid: 1000 };

export type Ended = { code: number | null; stdout: string; stderr: string };
export type Running = { child: ChildProcess; ended: Promise<Ended>; output: () => string };

type ImageConfig = {
  env: Record<string, string>;
  workdir: string;
  user: string | null;
  volumes: string[];
  entrypoint: string[];
  command: string[];
  healthcheck: string[];
};

/**
 * A Dockerfile's steps, done in plain folders where there is no container engine: COPY respects .dockerignore, RUN runs,
 * and what the other instructions say is how `start` starts it.
 */
export class PlainImage {
  readonly root: string;
  readonly config: ImageConfig;
  readonly #folder: string;

  private constructor(folder: string, built: { root: string; config: ImageConfig }) {
    this.#folder = folder;
    this.root = built.root;
    this.config = built.config;
    // A copy that any user may run, wherever the one that runs the tests lies.
    fs.copyFileSync(process.execPath, join(folder, 'node'));
    fs.chmodSync(join(folder, 'node'), 0o755);
  }

  static build(dockerfile: string): PlainImage {
    const folder = fs.mkdtempSync(join(tmpdir(), 'millrace-image-'));
    fs.chmodSync(folder, 0o755);
    const stages = readDockerfile(join(PROJECT, dockerfile));
    const roots = new Map(stages.map(({ name }, index) => [name ?? 'final', join(folder, `stage-${index}`)]));
    const configs = stages.map((stage) => buildStage(stage, roots));
    return new PlainImage(folder, { root: roots.get('final')!, config: configs.at(-1)! });
  }

  /** The folder that the image's WORKDIR is here. */
  get workdir(): string {
    return join(this.root, this.config.workdir);
  }

  /** Gives the image's user a folder of its own to work in, as `WORKDIR` is where an Actor's image comes from. */
  ownWorkdir(): void {
    if (isRoot) fs.chownSync(this.workdir, NODE_USER.uid, NODE_USER.gid);
  }

  /** An empty volume, mounted in the place of the image's. */
  mountVolume(): string {
    const volume = fs.mkdtempSync(join(this.#folder, 'volume-'));
    if (isRoot) fs.chownSync(volume, NODE_USER.uid, NODE_USER.gid);
    const target = join(this.root, this.config.volumes[0]!);
    fs.rmSync(target, { recursive: true, force: true });
    fs.symlinkSync(volume, target);
    return volume;
  }

  /** Nothing but the volume can be written, as with `docker run --read-only`. */
  makeReadOnly(): void {
    execFileSync('chmod', ['-R', 'a-w', this.root]);
  }

  /** `docker run -e ENV IMAGE ARGS`: as the image's user, with the image's environment and no other. */
  start(args: readonly string[], options: { pid1?: boolean; env?: Record<string, string> } = {}): Running {
    const { entrypoint, command } = this.config;
    return this.#spawn([...entrypoint, ...(args.length > 0 ? args : command)], options);
  }

  run(args: readonly string[]): Promise<Ended> {
    return this.start(args).ended;
  }

  checkHealth(): Promise<Ended> {
    return this.#spawn(this.config.healthcheck, {}).ended;
  }

  remove(): void {
    execFileSync('chmod', ['-R', 'u+w', this.#folder]);
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }

  #spawn(
    argv: readonly string[],
    { pid1 = false, env = {} }: { pid1?: boolean; env?: Record<string, string> },
  ): Running {
    const command = pid1 ? [...PID_NAMESPACE, ...AS_NODE_USER, ...argv] : argv;
    const child = spawn(command[0]!, command.slice(1), {
      cwd: this.workdir,
      // No temporary folder can be written either.
      env: {
        ...this.config.env,
        PATH: [this.#folder, '/usr/bin', '/bin'].join(delimiter),
        TMPDIR: join(this.root, 'no-such-folder'),
        ...env,
      },
      ...(isRoot && !pid1 ? NODE_USER : {}),
    });
    return follow(child);
  }
}

const PID_NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child=SIGKILL'];
const AS_NODE_USER = ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups', '--no-new-privs'];

/** Whether processes can be given a PID namespace of their own here. */
export function canBePid1(): boolean {
  try {
    execFileSync(PID_NAMESPACE[0]!, [...PID_NAMESPACE.slice(1), ...AS_NODE_USER, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function follow(child: ChildProcess): Running {
  let stdout = '';
  let stderr = '';
  child.stdout!.on('data', (data) => (stdout += String(data)));
  child.stderr!.on('data', (data) => (stderr += String(data)));
  child.stdin!.end();
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return { child, ended, output: () => stdout + stderr };
}

function buildStage({ instructions }: Stage, roots: ReadonlyMap<string, string>): ImageConfig {
  const root = [...roots.values()].find((candidate) => !fs.existsSync(candidate))!;
  fs.mkdirSync(root, { recursive: true });
  const config: ImageConfig = {
    env: {},
    workdir: '/',
    user: null,
    volumes: [],
    entrypoint: [],
    command: [],
    healthcheck: [],
  };
  for (const instruction of instructions) apply(instruction, { root, roots, config });
  return config;
}

type Building = { root: string; roots: ReadonlyMap<string, string>; config: ImageConfig };

function apply({ keyword, flags, rest }: Instruction, { root, roots, config }: Building): void {
  const here = (path: string): string => join(root, path.startsWith('/') ? '' : config.workdir, path);
  if (keyword === 'WORKDIR') {
    config.workdir = rest;
    fs.mkdirSync(here(rest), { recursive: true });
  } else if (keyword === 'COPY') copy(rest.split(/\s+/), { from: flags.from, roots, here });
  else if (keyword === 'RUN') runStep(rest, here('.'));
  else if (keyword === 'ENV')
    Object.assign(config.env, Object.fromEntries(rest.split(/\s+/).map((pair) => pair.split('=', 2))));
  else if (keyword === 'USER') config.user = rest;
  else if (keyword === 'VOLUME') config.volumes = JSON.parse(rest) as string[];
  else if (keyword === 'ENTRYPOINT') config.entrypoint = JSON.parse(rest) as string[];
  else if (keyword === 'CMD') config.command = JSON.parse(rest) as string[];
  else if (keyword === 'HEALTHCHECK') config.healthcheck = JSON.parse(rest.replace(/^CMD /, '')) as string[];
  else if (keyword !== 'EXPOSE' && keyword !== 'LABEL') throw new Error(`${keyword} is not understood here`);
}

type Copying = { from: string | undefined; roots: Building['roots']; here: (path: string) => string };

function copy(paths: readonly string[], { from, roots, here }: Copying): void {
  const target = paths.at(-1)!;
  for (const source of paths.slice(0, -1)) {
    if (from === undefined && !isSentToBuilder(source))
      throw new Error(`.dockerignore keeps ${source} out of the build`);
    const path = join(from === undefined ? PROJECT : roots.get(from)!, source);
    const isInto = target.endsWith('/') || paths.length > 2;
    fs.cpSync(path, isInto ? join(here(target), basename(path)) : here(target), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
}

/** Our .dockerignore leaves everything out but what it names. */
function isSentToBuilder(source: string): boolean {
  const lines = fs.readFileSync(join(PROJECT, '.dockerignore'), 'utf8').trim().split('\n');
  return lines[0] === '*' && lines.includes(`!${source}`);
}

function runStep(script: string, cwd: string): void {
  const shims = join(cwd, '..', 'shims');
  fs.mkdirSync(shims, { recursive: true });
  // The image has a user "node"; this machine may have none.
  const { uid, gid } = NODE_USER;
  const chown = isRoot ? `#!/bin/sh\nshift\nexec /bin/chown ${uid}:${gid} "$@"\n` : '#!/bin/sh\n';
  fs.writeFileSync(join(shims, 'chown'), chown, { mode: 0o755 });
  const path = [shims, dirname(process.execPath), process.env.PATH].join(delimiter);
  // What npm ci has fetched for the checkout is not fetched again.
  const env = { ...process.env, PATH: path, npm_config_prefer_offline: 'true' };
  execFileSync('/bin/sh', ['-ec', script], { cwd, env, stdio: 'pipe' });
}
