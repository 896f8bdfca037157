import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useStage } from '../support/stage.ts';

describe('scenarios that record, send digits and change between calls', () => {
  const stage = useStage();

  async function scenario(id: string, blocks: string): Promise<void> {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, `${id}.yaml`),
      `id: ${id}
start: pick_up
blocks:
  pick_up:
    answer:
    next: go
${blocks}`,
    );
  }

  it('a caller records a message until #, and hears it played back', async () => {
    await scenario(
      'memo',
      `  go:
    record: { max: 20s, stop_digits: "#" }
    next: again
  again:
    play: \${go.recording}
    next: end
`,
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

  it('send_dtmf of a scenario reaches the caller', async () => {
    await scenario(
      'keys',
      `  go:
    send_dtmf: "12,3"
    next: end
`,
    );
    const [alice] = await stage.phones('alice');
    const call = await alice.call('*55keys');
    await call.answered();
    await call.receivesDtmf('123', { withinMs: 5000 });
    await call.ended(5000);
  });

  it('a changed scenario file serves the next call', async () => {
    const tone = (hertz: number) => `  go:
    play: "tone:%(3000,0,${hertz})"
    next: end
`;
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
