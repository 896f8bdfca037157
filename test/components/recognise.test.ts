import { plays } from './support.ts';

describe('component recognise', () => {
  plays('gives the words said after the prompt', {
    block: `
      recognise: { prompt: welcome.wav, timeout: 3s }
      exits: { heard: end, silence: end }`,
    script: { turns: [{ kind: 'say', text: 'good morning' }] },
    exit: 'heard',
    result: { text: 'good morning', milliseconds: 720 },
  });

  plays('leaves by failed for words that are not among its hints', {
    block: `
      recognise: { hints: ["yes", "no"] }
      exits: { heard: end, silence: end, failed: end }`,
    script: { turns: [{ kind: 'say', text: 'perhaps' }] },
    exit: 'failed',
    result: { text: '', milliseconds: 420 },
  });

  plays('leaves by silence when nobody speaks', {
    block: `
      recognise: { prompt: welcome.wav, timeout: 3s }
      exits: { heard: end, silence: end }`,
    exit: 'silence',
    result: { text: '', milliseconds: 0 },
    milliseconds: 4000,
  });
});
