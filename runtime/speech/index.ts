/** Speech recognition: the engines behind one interface, and their users. */
export { type SpeechEngine, SpeechError, type SpeechResult, type SpeechStream } from './engine.ts';
export { SpeechLayerError, SpeechLayers, type SpeechNotice } from './layers.ts';
export { openSpeech } from './open-speech.ts';
export { recogniseSpeech, type Recognised, type RecogniseOptions } from './recognise.ts';
export { NO_ENGINE, SpeechService } from './service.ts';
export { transcribeFile, type TranscribedChannel } from './transcribe-file.ts';
