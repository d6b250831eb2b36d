import { expect, test } from 'vitest';
import { describeMachine, machineText } from '../../../src/measure/common/machine.ts';

test('the region is what the environment names, our own variable first, and nothing where it names none', () => {
  const regionOf = (env: Record<string, string>) => describeMachine(env, '1.2.3').region;
  expect(regionOf({ AWS_REGION: 'eu-central-1' })).toBe('eu-central-1');
  expect(regionOf({ FLY_REGION: 'fra', MILLRACE_REGION: 'home' })).toBe('home');
  expect(regionOf({ MILLRACE_REGION: '', FLY_REGION: 'fra' })).toBe('fra');
  expect(regionOf({})).toBeNull();
});

test('a machine is one line: cores, processor, versions, and where it stands', () => {
  const machine = { ...describeMachine({}, '1.2.3'), cpuModel: 'A CPU', node: 'v24.1.0', platform: 'linux 6.1' };
  expect(machineText({ ...machine, cores: 2 })).toBe('2 cores of A CPU, Node v24.1.0, linux 6.1');
  expect(machineText({ ...machine, cores: 1, region: 'fra' })).toBe('1 core of A CPU, Node v24.1.0, linux 6.1, fra');
  expect(machine).toMatchObject({ millrace: '1.2.3', memoryMib: expect.any(Number) });
});
