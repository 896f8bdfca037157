/** Sounds that scenarios play: uploaded prompts of domains, files of several kinds, and URLs. */
export { SoundError } from './convert/errors.ts';
export { CONTENT_TYPES } from './convert/kinds.ts';
export { Converter } from './converter.ts';
export { Prompts } from './prompts.ts';
export { SoundCache } from './sound-cache.ts';
export { type Downloads, UrlSounds } from './url-sounds.ts';
