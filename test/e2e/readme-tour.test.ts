import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { useStage } from '../support/stage.ts';

const run = promisify(execFile);

describe('the tour in the README', () => {
  const stage = useStage();

  it('starts, shows, finds and ends a call as alice, with its commands unchanged', async () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const blocks = [...readme.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
      block.includes('curl ') ? [block.replaceAll('http://127.0.0.1:8080', stage.node.base)] : [],
    );
    expect(blocks).to.have.length(2);
    const [start = '', look = ''] = blocks;
    const [alice, bob] = await stage.phones('alice', 'bob');
    const started = run('bash', ['-c', `${start}\nprintf '\\n%s' "$TOKEN"`]);
    const x = await alice.incoming();
    await x.answer();
    const y = await bob.incoming();
    y.ring();
    const [answer = '', TOKEN = ''] = (await started).stdout.split('\n');
    expect(JSON.parse(answer)).to.include({ result: 'ok', last_response: 'SIP/2.0 180 Ringing' });
    await y.answer();
    const { dialogid } = await stage.dialog();
    const script = look.replace('DIALOGID', dialogid).replaceAll(/(?=^curl)/gm, 'echo; ');
    const [, list = '', found = '', ended = ''] = (
      await run('bash', ['-c', script], { env: { ...process.env, TOKEN } })
    ).stdout.split('\n');
    expect((JSON.parse(list) as { dialogid: string }[]).map((dialog) => dialog.dialogid)).to.deep.equal([dialogid]);
    expect(JSON.parse(found)).to.deep.equal([dialogid]);
    expect(JSON.parse(ended)).to.deep.equal({ dialogid });
    await Promise.all([x.ended(), y.ended()]);
  });
});
