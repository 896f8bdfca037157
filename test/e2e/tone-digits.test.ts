import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keySound } from '../phones/media/keypad.ts';
import { useStage } from '../support/stage.ts';

describe('digits as tones, to and from phones without telephone-events', () => {
  const stage = useStage();

  before(async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, 'tones.yaml'),
      `id: tones
start: pick_up
blocks:
  pick_up:
    answer:
    next: ask
  ask:
    collect: { prompt: "tone:%(4000,0,800)", max: 4, timeout: 5s }
    exits: { next: ready, timeout: end }
  ready:
    play: "tone:%(2000,0,1100)"
    next: more
  more:
    collect: { min: 1, max: 8, timeout: 5s }
    exits: { next: tell, timeout: end }
  tell:
    send_dtmf: \${ask.digits + more.digits}
    next: wait
  wait:
    wait: 2s
    next: end
`,
    );
  });

  it('a scenario collects tones, also those typed ahead, and its digits are heard as tones', async () => {
    const alice = await stage.phone('alice', { keysByRtp: false });
    const call = await alice.call('*55tones');
    await call.answered();
    await call.hears(800, { withinMs: 5000 });
    await call.say(keySound('15#'));
    await call.hears(1100, { withinMs: 5000 });
    // While the tone plays, nobody collects.
    await call.say(keySound('72#'));
    await call.hearsKeys('1572', { withinMs: 8000 });
    await call.hangup();
  });
});
