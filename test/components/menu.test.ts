import { plays } from './support.ts';

describe('component menu', () => {
  plays('speaks its prompt', {
    block: `
      menu: { prompt: ["say:Press 1, please.", "say[de]: Oder 2: bitte"], tries: 1 }
      exits: { 1: end, failed: end }`,
    script: {
      turns: [
        { kind: 'hear', sound: 'Oder 2: bitte' },
        { kind: 'press', digits: '1' },
      ],
    },
    exit: '1',
    events: ['prompt Press 1, please. Oder 2: bitte', 'pressed 1'],
  });

  plays('leaves by the key that was pressed', {
    block: `
      menu: { intro: welcome.wav, prompt: menu.wav }
      exits: { 1: end, 2: end, failed: end }`,
    script: { presses: ['2'] },
    exit: '2',
    result: { digit: '2', tries: 1 },
    events: ['prompt welcome.wav menu.wav', 'pressed 2'],
  });

  plays('asks again after a wrong key and after silence', {
    block: `
      menu: { prompt: menu.wav, invalid: invalid.wav }
      exits: { 1: end, "*": end, failed: end }`,
    script: { presses: ['9', '', '*'] },
    exit: '*',
    result: { digit: '*', tries: 3 },
    events: ['prompt menu.wav', 'pressed 9', 'prompt invalid.wav menu.wav', 'prompt menu.wav', 'pressed *'],
  });

  plays('leaves by failed after its last try', {
    block: `
      menu: { prompt: menu.wav, invalid: invalid.wav, tries: 2 }
      exits: { 1: end, failed: end }`,
    script: { presses: ['9', 'E'] },
    exit: 'failed',
    result: { digit: 'E', tries: 2 },
    events: ['prompt menu.wav', 'pressed 9', 'prompt invalid.wav menu.wav', 'pressed E', 'play invalid.wav'],
  });
});
