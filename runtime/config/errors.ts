/** A setting that cannot be used; the message names it, what was found and what to write instead. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly setting: string;
  constructor(setting: string, found: string, expected: string) {
    super(`${setting}: found "${found}", expected ${expected}`);
    this.setting = setting;
  }
}
