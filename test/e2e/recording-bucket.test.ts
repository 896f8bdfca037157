import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';
import { S3Server } from '../storage/support/s3-server.ts';
import { expectTalk } from './expectations.ts';

const RECORDINGS = '/rest/v1/domain/recordings';

interface Recording {
  readonly id: string;
  readonly status: string;
  readonly reason: string;
  readonly reclink: string;
  readonly size: number;
  readonly sha256: string;
}

describe('recordings in an S3-compatible store', () => {
  let s3: S3Server;
  const stage = useStage({
    ownNode: true,
    env: async () => {
      s3 = await S3Server.start();
      return { RINGMASTER_RECORDINGS: s3.url() };
    },
  });
  after(() => s3.close());

  before('have every call recorded', async () => {
    const rule = { body: { direction: 'out' } };
    const answer = await (await stage.rest()).send('POST', '/rest/v1/domain/recordingrules', rule);
    expect(answer.status, answer.text).to.equal(200);
  });

  async function call(): Promise<void> {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await expectTalk(outgoing, incoming);
    await outgoing.hangup();
    await incoming.ended();
    await Promise.all([alice.stop(), bob.stop()]);
  }

  /** All recordings, newest first, once all have this status. */
  async function recordings(...statuses: readonly string[]): Promise<Recording[]> {
    const rest = await stage.rest();
    return eventually(async () => {
      const all = (await rest.get(RECORDINGS)).json<Recording[]>();
      expect(all.map(({ status }) => status)).to.deep.equal(statuses);
      return all;
    }, 8000);
  }

  it('are read, whole and in parts, and removed', async () => {
    await call();
    const [saved] = await recordings('saved');
    if (saved === undefined) throw new Error('nothing is recorded');
    expect(saved.reclink).to.match(/^s3:\/\/127\.0\.0\.1:\d+\/bucket\/some\/prefix\/main\/demo\.local\//);
    const [object] = [...s3.objects.values()];
    expect(object?.length).to.equal(saved.size);
    const rest = await stage.rest();
    const file = (range?: string) =>
      fetch(`${stage.node.base}${RECORDINGS}/${saved.id}/file`, {
        headers: { ...rest.authorization, ...(range === undefined ? {} : { range }) },
      });
    const whole = Buffer.from(await (await file()).arrayBuffer());
    expect(createHash('sha256').update(whole).digest('hex')).to.equal(saved.sha256);
    const part = await file('bytes=0-3');
    expect([part.status, await part.text()]).to.deep.equal([206, 'RIFF']);
    expect((await rest.send('DELETE', `${RECORDINGS}/${saved.id}`)).status).to.equal(204);
    expect(s3.objects.size).to.equal(0);
    expect(s3.refused).to.deep.equal([]);
  });

  it('refused by the store are reported as failed, kept, and filed later', async () => {
    s3.failWith = 503;
    await call();
    const [failed] = await recordings('failed');
    expect(failed?.reason).to.match(/answered 503/);
    s3.failWith = undefined;
    await call();
    const [, first] = await recordings('saved', 'saved');
    expect(first?.id).to.equal(failed?.id);
    expect(s3.objects.size).to.equal(2);
  });

  it('are filed after a restart of the node', async function () {
    this.timeout(90_000);
    const before = s3.objects.size;
    s3.failWith = 500;
    await call();
    await recordings('failed', 'saved', 'saved');
    await stage.node.stop();
    s3.failWith = undefined;
    await stage.node.restart();
    await recordings('saved', 'saved', 'saved');
    expect(s3.objects.size).to.equal(before + 1);
  });
});
