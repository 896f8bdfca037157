// Runs in the page before its own scripts. It keeps the page's connections, lets the microphone's tone through as it is,
// measures what arrives, and finds what a user sees.
(() => {
  const connections = [];
  /** dB; JSON has no infinity. */
  const SILENCE = -200;
  const Connection = globalThis.RTCPeerConnection;
  globalThis.RTCPeerConnection = class extends Connection {
    constructor(...args) {
      super(...args);
      connections.push(this);
    }
  };

  // Noise suppression takes a lasting tone for noise.
  const { mediaDevices } = navigator;
  const getUserMedia = mediaDevices?.getUserMedia.bind(mediaDevices);
  const plain = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  if (mediaDevices !== undefined)
    mediaDevices.getUserMedia = () => {
      globalThis.microphonesAsked += 1;
      return getUserMedia({ audio: plain });
    };
  /** How often the page has asked for the microphone. */
  globalThis.microphonesAsked = 0;

  /** Analysers by track. */
  const ears = new Map();
  let context;

  function earOf(track) {
    context ??= new AudioContext();
    const ear = ears.get(track) ?? new AnalyserNode(context, { fftSize: 8192, smoothingTimeConstant: 0 });
    if (!ears.has(track)) context.createMediaStreamSource(new MediaStream([track])).connect(ear);
    ears.set(track, ear);
    return ear;
  }

  /** Loudness in dB at a frequency, and of the loudest one, in what the newest call receives now. */
  globalThis.hear = (frequency) => {
    const live = connections.filter(({ connectionState }) => connectionState !== 'closed');
    const track = live.at(-1)?.getReceivers()[0]?.track;
    if (track === undefined) return { level: SILENCE, loudest: SILENCE, at: 0 };
    const ear = earOf(track);
    const bins = new Float32Array(ear.frequencyBinCount);
    ear.getFloatFrequencyData(bins);
    const width = context.sampleRate / ear.fftSize;
    const middle = Math.round(frequency / width);
    const loudest = Math.max(...bins);
    const at = Math.round(bins.indexOf(loudest) * width);
    const level = Math.max(SILENCE, ...bins.subarray(middle - 1, middle + 2));
    return { level, loudest: Math.max(SILENCE, loudest), at };
  };

  const shows = (element) => element?.checkVisibility() === true;
  const named = (element, name) => (element.ariaLabel ?? element.textContent).trim() === name;

  /** The visible button of a name, in the card of a call with a title. */
  globalThis.buttonOf = (name, title) => {
    const cards = title === '' ? [document] : [...document.querySelectorAll('li')];
    const card = cards.find((one) => title === '' || one.querySelector('h3')?.textContent === title);
    return [...(card?.querySelectorAll('button') ?? [])].find((one) => shows(one) && named(one, name)) ?? null;
  };

  /** The visible field with a label. */
  globalThis.fieldOf = (name) => {
    const labels = [...document.querySelectorAll('label')];
    return labels.find((one) => shows(one.control) && named(one, name))?.control ?? null;
  };
})();
