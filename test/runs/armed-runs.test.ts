import { expect } from 'chai';
import { pino } from 'pino';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import type { LiveDirectory } from '../../runtime/domain/index.ts';
import { ArmedRuns } from '../../runtime/runs/armed-runs.ts';
import type { CallPort } from '../../runtime/runs/call-port.ts';
import type { Program } from '../../runtime/language/program.ts';
import { ScenarioRunner } from '../../runtime/runs/runner.ts';
import { NodePolicy } from '../../runtime/node/adapters/policy.ts';
import { silentLog } from '../support/log.ts';
import { program, services, sourceOf } from '../support/scenarios.ts';

const MENU = { id: 'menu', module: {} } as Program;
const DOMAIN = asDomainName('one.example');

/** Of a node without settings of domains. */
function policy(debugPort: number | undefined): Promise<NodePolicy> {
  const settings = { list: async () => [], onChange: () => undefined };
  const directory = { collections: { settings }, domain: () => undefined } as unknown as LiveDirectory;
  return NodePolicy.open({ directory, secretsFile: '/none', debugPort, log: pino({ level: 'silent' }) });
}

function callFrom(number: string): CallPort {
  return { opponent: { number } } as CallPort;
}

describe('a run armed for a debugger', () => {
  it('is the next run of that scenario in that domain', async () => {
    const node = await policy(9229);
    node.debugging?.armed.arm(DOMAIN, 'menu', '');
    expect(node.debugs(MENU, asDomainName('two.example'), undefined)).to.equal(false);
    expect(node.debugs({ ...MENU, id: 'echo' }, DOMAIN, undefined)).to.equal(false);
    expect(node.debugs(MENU, asDomainName('one.example'), undefined)).to.equal(true);
    expect(node.debugs(MENU, DOMAIN, undefined)).to.equal(false);
  });

  it('is the next call of each named caller', async () => {
    const node = await policy(9229);
    for (const from of ['101', '103', '101']) node.debugging?.armed.arm(DOMAIN, 'menu', from);
    expect(node.debugs(MENU, DOMAIN, callFrom('102'))).to.equal(false);
    expect(node.debugs(MENU, DOMAIN, undefined)).to.equal(false);
    for (const from of ['101', '103']) {
      expect(node.debugs(MENU, DOMAIN, callFrom(from))).to.equal(true);
      expect(node.debugs(MENU, DOMAIN, callFrom(from))).to.equal(false);
    }
  });

  it('is refused where debuggers are not allowed, and for a scenario without a script', async () => {
    expect((await policy(undefined)).debugging).to.equal(undefined);
    const blocks = program(`id: menu
start: a
blocks:
  a: { answer: , next: end }
`);
    const runner = async (port: number | undefined) =>
      new ScenarioRunner(
        sourceOf(() => blocks),
        silentLog,
        services({ policy: await policy(port) }),
      );
    expect(await (await runner(undefined)).debug('menu', DOMAIN, '')).to.equal('not_allowed');
    const node = await runner(9229);
    expect(await node.debug('menu', DOMAIN, '')).to.equal('no_script');
    expect(await node.debugged(DOMAIN)).to.deep.equal([]);
    // It had one when the debugger was asked for.
    const changed = await policy(9229);
    changed.debugging?.armed.arm(DOMAIN, 'menu', '');
    expect(changed.debugs(blocks, DOMAIN, undefined)).to.equal(false);
  });

  it('must start within ten minutes', () => {
    let now = 1000;
    const armed = new ArmedRuns(() => now);
    expect(armed.arm(DOMAIN, 'menu', '')).to.deep.equal({ scenario: 'menu', callerNumber: '', until: 601_000 });
    now = 600_999;
    expect(armed.list(DOMAIN)).to.have.length(1);
    now = 601_000;
    expect(armed.list(DOMAIN)).to.deep.equal([]);
    expect(armed.take(DOMAIN, 'menu', undefined)).to.equal(false);
  });

  it('is disarmed by a request, by deletion of the scenario, and beyond the limit', async () => {
    const armed = new ArmedRuns();
    for (const scenario of ['menu', 'echo']) armed.arm(DOMAIN, scenario, '');
    armed.arm(asDomainName('two.example'), 'menu', '');
    expect(armed.disarm(DOMAIN, 'none')).to.equal(false);
    expect(armed.disarm(DOMAIN, 'menu')).to.equal(true);
    expect(armed.list(DOMAIN).map(({ scenario }) => scenario)).to.deep.equal(['echo']);
    await armed.prune(DOMAIN, async (scenario) => scenario !== 'echo');
    expect(armed.list(DOMAIN)).to.deep.equal([]);
    expect(armed.list(asDomainName('two.example'))).to.have.length(1);
    for (let number = 0; number <= 100; number += 1) armed.arm(DOMAIN, 'menu', String(number));
    expect(armed.list(DOMAIN)).to.have.length(100);
    expect(armed.take(DOMAIN, 'menu', '0')).to.equal(false);
    expect(armed.take(DOMAIN, 'menu', '100')).to.equal(true);
  });

  it('is disarmed when its scenario is deleted meanwhile', async () => {
    const known = new Map([['menu', MENU]]);
    const node = await policy(9229);
    const runner = new ScenarioRunner(
      sourceOf((id) => known.get(id)),
      silentLog,
      services({ policy: node }),
    );
    expect(await runner.debug('menu', DOMAIN, '101')).to.include({ scenario: 'menu', callerNumber: '101', port: 9229 });
    expect(await runner.debugged(DOMAIN)).to.have.length(1);
    known.clear();
    expect(await runner.debugged(DOMAIN)).to.deep.equal([]);
    known.set('menu', MENU);
    expect(node.debugs(MENU, DOMAIN, callFrom('101'))).to.equal(false);
  });
});
