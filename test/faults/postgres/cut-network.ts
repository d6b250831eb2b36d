import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Namespace } from '../../fixtures/namespaces.ts';
import type { Observed, ScenarioName } from './cut-scenario.ts';

/** Where PostgreSQL and the API are, whether the link is up or not. */
export const HUB_ADDRESS = '10.231.9.1';
const HUB_END = '10.231.8.1';
const FAR_END = '10.231.8.2';
const HUB_DEVICE = 'mrhub';
const FAR_DEVICE = 'mrfar';
const SCRIPT = fileURLToPath(new URL('./cut-scenario.ts', import.meta.url));

/** The hub, with all that is needed, and a far place that is joined to it by a cable. */
export class CutNetwork {
  readonly #hub: Namespace;
  readonly #far: Namespace;
  #child: ChildProcess | null = null;

  private constructor(name: string) {
    this.#hub = Namespace.add(`${name}h`);
    this.#far = Namespace.add(`${name}f`);
  }

  static open(): CutNetwork {
    const network = new CutNetwork(`millrace${process.pid}`);
    const [hub, far] = [network.#hub, network.#far];
    hub.ip('link', 'add', HUB_DEVICE, 'type', 'veth', 'peer', 'name', FAR_DEVICE, 'netns', far.name);
    hub.ip('address', 'add', `${HUB_ADDRESS}/32`, 'dev', 'lo');
    hub.ip('address', 'add', `${HUB_END}/24`, 'dev', HUB_DEVICE);
    far.ip('address', 'add', `${FAR_END}/24`, 'dev', FAR_DEVICE);
    hub.ip('link', 'set', HUB_DEVICE, 'up');
    far.ip('link', 'set', FAR_DEVICE, 'up');
    far.ip('route', 'add', HUB_ADDRESS, 'via', HUB_END);
    return network;
  }

  /** Plays a scenario from within the hub. @returns what it has seen */
  async play<Name extends ScenarioName>(name: Name): Promise<Observed[Name]> {
    const [program, args] = this.#hub.within(process.execPath, [SCRIPT, name, this.#far.name]);
    const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child = child;
    const ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`The scenario ended (${signal ?? code}) without having seen its end`);
    });
    const [observed] = (await Promise.race([once(child, 'message'), ended])) as [Observed[Name]];
    await ended.catch(() => {});
    return observed;
  }

  async remove(): Promise<void> {
    const child = this.#child;
    if (child !== null && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    this.#far.remove();
    this.#hub.remove();
  }
}

/** The cable, as the hub sees it: to be used from within the hub. */
export const cable = {
  address: FAR_END,
  cut: () => setLink('down'),
  mend: () => setLink('up'),
};

async function setLink(state: 'up' | 'down'): Promise<void> {
  const child = spawn('ip', ['link', 'set', HUB_DEVICE, state], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`ip link set ${HUB_DEVICE} ${state} ended with ${code}`);
}
