import { spawn } from 'node:child_process';
import { expect } from 'chai';
import { requirePeer } from '../../phones/peers.ts';
import { FAST, type Node, SDP, startNode, until } from './srf-client.ts';

const CALLS = 200;

/** Runs one of SIPp's built-in scenarios; resolves with its exit code (0: every call went as it should). */
function sipp(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const common = [
      '-i',
      '127.0.0.1',
      '-m',
      String(CALLS),
      '-r',
      '100',
      '-nostdin',
      '-timeout',
      '20s',
      '-timeout_error',
      '-max_socket',
      '500',
    ];
    const child = spawn(program, [...args, ...common], { stdio: 'ignore', env: { ...process.env, TERM: 'xterm' } });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? -1));
  });
}

describe('embedded SIP server with SIPp', function () {
  this.timeout(30_000);
  let node: Node;
  let program: string;
  before(async function () {
    program = requirePeer(this, 'sipp');
    node = await startNode({ timerValues: FAST });
    node.srf.invite((req, res) => {
      void node.srf.createUAS(req, res, { localSdp: SDP }).then((dialog) => dialog.on('destroy', () => undefined));
    });
  });
  after(() => node?.close());

  for (const transport of ['u1', 't1', 'tn'] as const) {
    it(`answers ${CALLS} calls over ${{ u1: 'UDP', t1: 'one TCP connection', tn: 'a TCP connection each' }[transport]}, and leaves nothing behind`, async () => {
      expect(await sipp(program, ['-sn', 'uac', node.sip, '-t', transport, '-d', '50'])).to.equal(0);
      await until(async () => {
        const { dialogs, transactions, timers, pending, sockets } = await node.server.stats();
        return dialogs + transactions + timers + pending === 0 && sockets === 2;
      }, 'nothing left');
    });
  }
});
