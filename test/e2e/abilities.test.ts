import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useStage } from '../support/stage.ts';

describe('what scenarios can do to their caller', () => {
  const stage = useStage();

  async function scenario(id: string, blocks: string): Promise<void> {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, `${id}.yaml`),
      `id: ${id}\nstart: pick_up\nblocks:\n  pick_up:\n    answer:\n    next: go\n${blocks}`,
    );
  }

  it('record it until a key, and play that back', async () => {
    await scenario(
      'memo',
      '  go:\n    record: { max: 20s, stop_digits: "#" }\n    next: again\n  again:\n    play: ${go.recording}\n    next: end\n',
    );
    const [alice] = await stage.phones('alice');
    const call = await alice.call('*55memo');
    await call.answered();
    call.play(710);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    call.play(undefined);
    await call.sendDtmf('#');
    await call.hears(710, { withinMs: 4000 });
    await call.ended(8000);
  });

  it('send it digits', async () => {
    await scenario('keys', '  go:\n    send_dtmf: "12,3"\n    next: end\n');
    const [alice] = await stage.phones('alice');
    const call = await alice.call('*55keys');
    await call.answered();
    await call.receivesDtmf('123', { withinMs: 5000 });
    await call.ended(5000);
  });

  it('are served in the version of the moment', async () => {
    const tone = (hertz: number) => `  go:\n    play: "tone:%(3000,0,${hertz})"\n    next: end\n`;
    await scenario('changing', tone(500));
    const [alice] = await stage.phones('alice');
    const first = await alice.call('*55changing');
    await first.hears(500, { withinMs: 3000 });
    await scenario('changing', tone(1000));
    await first.hangup();
    const second = await alice.call('*55changing');
    await second.hears(1000, { withinMs: 3000 });
    await second.hangup();
  });
});
