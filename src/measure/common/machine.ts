import { availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { MIB } from '../../core/units.ts';

/** Where and with what something was measured: what a reader needs to compare figures. */
export type Machine = {
  /** As far as the environment names it. */
  region: string | null;
  cores: number;
  cpuModel: string;
  memoryMib: number;
  platform: string;
  node: string;
  millrace: string;
};

// Set by the platforms themselves.
const REGION_VARIABLES = [
  'MILLRACE_REGION',
  'AWS_REGION',
  'FLY_REGION',
  'GOOGLE_CLOUD_REGION',
  'REGION_NAME',
  'VERCEL_REGION',
  'APIFY_AWS_REGION',
];

/** @param env to find out the region by */
export function describeMachine(env: Readonly<Record<string, string | undefined>>, version: string): Machine {
  const named = REGION_VARIABLES.map((name) => env[name]).find((value) => value !== undefined && value !== '');
  return {
    region: named ?? null,
    cores: availableParallelism(),
    cpuModel: cpus()[0]?.model.trim() ?? 'unknown',
    memoryMib: Math.round(totalmem() / MIB),
    platform: `${platform()} ${release()}`,
    node: process.version,
    millrace: version,
  };
}

/** @returns one line: "2 cores of ..., Node v24.1.0, linux 6.1" */
export function machineText({ cores, cpuModel, node, platform: system, region }: Machine): string {
  const place = region === null ? '' : `, ${region}`;
  return `${cores} ${cores === 1 ? 'core' : 'cores'} of ${cpuModel}, Node ${node}, ${system}${place}`;
}
