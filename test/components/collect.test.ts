import { plays } from './support.ts';

describe('component collect', () => {
  plays('ends after max digits', {
    block: `
      collect: { max: 3 }
      exits: { next: end, timeout: end }`,
    script: { presses: ['12345'] },
    exit: 'next',
    result: { digits: '123', terminator: '' },
  });

  plays('ends at a terminator', {
    block: `
      collect: { max: 5 }
      exits: { next: end, timeout: end }`,
    script: { presses: ['12#'] },
    exit: 'next',
    result: { digits: '12', terminator: '#' },
  });

  plays('leaves by timeout with fewer digits than min', {
    block: `
      collect: { min: 3, max: 5 }
      exits: { next: end, timeout: end }`,
    script: { presses: ['12#'] },
    exit: 'timeout',
    result: { digits: '12', terminator: '#' },
  });

  plays('leaves by timeout when no digit comes', {
    block: `
      collect: { prompt: menu.wav, max: 5, timeout: 7s }
      exits: { next: end, timeout: end }`,
    exit: 'timeout',
    result: { digits: '', terminator: '' },
    events: ['prompt menu.wav'],
    milliseconds: 8000,
  });

  plays('leaves by next without digits when min is 0', {
    block: `
      collect: { min: 0, max: 5 }
      exits: { next: end, timeout: end }`,
    exit: 'next',
    result: { digits: '', terminator: '' },
  });
});
