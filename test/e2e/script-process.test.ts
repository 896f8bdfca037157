import { expect } from 'chai';
import { countProcessors, processorTime, withoutFirstProcessor } from '../../runtime/processes/index.ts';
import { processorsOf, scriptProcessesOf } from '../support/children.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';

const IVR = '/rest/v1/domain/ivrscripts';

const THINKING = `export const limits = { cpu: '60s', activation: '5s' };
export const fallback = 'sorry';
export default async function (call) {
  await call.answer();
  log('thinking');
  await call.info();
  for (let n = 0; n < 1e12; n++);
}
`;
const SORRY = `start: sorry\nblocks:\n  sorry: { play: "tone:%(60000,0,700)", next: end }\n`;

const BUSY = `export const limits = { cpu: '60s', activation: '5s', wall: '6s' };
export default async function () {
  for (let n = 0; n < 1e12; n++);
}
`;

describe('a node whose scripts would use every processor', () => {
  for (const setting of ['spare-one', 'all'] as const) {
    describe(`with RINGMASTER_SCRIPT_PROCESSORS=${setting}`, () => {
      const stage = useStage({ env: { RINGMASTER_SCRIPT_PROCESSORS: setting } });

      it(setting === 'all' ? 'lets them' : 'leaves one to calls', async function () {
        if (process.platform !== 'linux') this.skip();
        const all = processorsOf('self');
        const left = setting === 'all' ? all : (withoutFirstProcessor(all) ?? all);
        const rest = await stage.rest();
        const scriptdata = { format: 'ts', source: BUSY };
        const made = await rest.send('POST', '/rest/v1/domain/svcscripts', { body: { code: 'busy', scriptdata } });
        expect(made.json<{ problems: readonly object[] }>().problems).to.deep.equal([]);
        const runs = Array.from({ length: 2 * countProcessors(all) }, () =>
          rest.send('POST', '/rest/v1/api/hooks/busy?wait=0', { body: {} }),
        );
        for (const { status } of await Promise.all(runs)) expect(status).to.equal(202);
        const node = stage.node.pid ?? 0;
        const used = (): number => scriptProcessesOf(node).reduce((sum, pid) => sum + (processorTime(pid) ?? 0), 0);
        await eventually(async () => {
          // Long enough for the node to have seen it, and to have done something about it.
          expect(used()).to.be.above(3000);
          for (const pid of scriptProcessesOf(node)) expect(processorsOf(pid)).to.equal(left);
        }, 12_000);
        expect(processorsOf(node)).to.equal(all);
      });
    });
  }
});

describe('a call whose script is in a process that dies', () => {
  const stage = useStage({ ownNode: true });

  const scriptProcesses = (): number[] => scriptProcessesOf(stage.node.pid ?? 0);

  it('stays up and is served by the fallback; the log tells of the process', async () => {
    const rest = await stage.rest();
    const scripts = { thinking: { format: 'ts', source: THINKING }, sorry: { format: 'yaml', source: SORRY } };
    for (const [code, scriptdata] of Object.entries(scripts).toReversed()) {
      const made = await rest.send('POST', IVR, { body: { code, scriptdata } });
      expect(made.json<{ problems: readonly object[] }>().problems).to.deep.equal([]);
    }
    const call = await (await stage.phone('alice')).call('*55thinking');
    await call.answered();
    await eventually(async () => expect(stage.node.output).to.include('"text":"thinking"'));
    for (const pid of scriptProcesses()) process.kill(pid, 'SIGKILL');
    await call.hears(700);
    expect(stage.node.output).to.include('a sandbox process is gone');
    await call.hangup();
  });
});
