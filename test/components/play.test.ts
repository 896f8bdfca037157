import { plays } from './support.ts';

describe('component play', () => {
  plays('plays a list, several times', {
    block: `
      play: { sounds: [welcome.wav, "silence:500ms", "tone:%(1,2,3)"], repeat: 2 }
      next: end`,
    exit: 'next',
    result: { digit: '' },
    events: ['play welcome.wav silence:500ms tone:%(1,2,3) (2 times)'],
    milliseconds: 5000,
  });

  plays('stops at a digit', {
    block: `
      play: { sounds: welcome.wav, stop_digits: "12" }
      exits: { next: end, digit: end }`,
    script: { presses: ['2'] },
    exit: 'digit',
    result: { digit: '2' },
    milliseconds: 200,
  });

  plays('goes on when a digit other than stop_digits is pressed', {
    block: `
      play: { sounds: welcome.wav, stop_digits: "1" }
      next: end`,
    script: { presses: ['2'] },
    exit: 'next',
    result: { digit: '' },
  });
});
