import { expect } from 'chai';
import { pino } from 'pino';
import type { LiveDirectory } from '../../runtime/domain/index.ts';
import type { CallPort } from '../../runtime/interpreter/call-port.ts';
import type { Program } from '../../runtime/interpreter/program.ts';
import { NodePolicy } from '../../runtime/scenario-policy.ts';

const MENU = { id: 'menu' } as Program;

/** Of a node without settings of domains. */
function policy(debugPort: number | undefined): Promise<NodePolicy> {
  const settings = { list: async () => [], onChange: () => undefined };
  const directory = { collections: { settings }, domains: () => [] } as unknown as LiveDirectory;
  return NodePolicy.open({ directory, secretsFile: '/none', debugPort, log: pino({ level: 'silent' }) });
}

function callFrom(number: string): CallPort {
  return { opponent: { number } } as CallPort;
}

describe('a run for which a debugger was asked', () => {
  it('is the next one, of that scenario in that domain', async () => {
    const node = await policy(9229);
    expect(node.arm('menu', 'one.example', '')).to.equal(9229);
    expect(node.debugs(MENU, 'two.example', undefined)).to.equal(false);
    expect(node.debugs({ ...MENU, id: 'echo' }, 'one.example', undefined)).to.equal(false);
    expect(node.debugs(MENU, 'One.Example', undefined)).to.equal(true);
    expect(node.debugs(MENU, 'one.example', undefined)).to.equal(false);
  });

  it('is the next call of the caller that was named', async () => {
    const node = await policy(9229);
    node.arm('menu', 'one.example', '101');
    expect(node.debugs(MENU, 'one.example', callFrom('102'))).to.equal(false);
    expect(node.debugs(MENU, 'one.example', undefined)).to.equal(false);
    expect(node.debugs(MENU, 'one.example', callFrom('101'))).to.equal(true);
  });

  it('is none where the operator lets no debugger in', async () => {
    const node = await policy(undefined);
    expect(node.arm('menu', 'one.example', '')).to.equal(undefined);
    expect(node.debugs(MENU, 'one.example', undefined)).to.equal(false);
  });
});
