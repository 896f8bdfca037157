/** A setting that cannot be used; the message names it, what was found and what to write instead. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly setting: string;
  constructor(setting: string, found: string, expected: string) {
    super(`${setting}: found "${found}", expected ${expected}`);
    this.setting = setting;
  }
}

/** A variable that names no setting. Its value is left out of the message: it may be a secret. */
export class UnknownSettingError extends Error {
  override readonly name = 'UnknownSettingError';
  readonly setting: string;
  /** @param meant the setting with the nearest name */
  constructor(setting: string, meant: string | undefined) {
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
    super(`${setting} is not a setting${hint} (docs/operating/settings.md has all)`);
    this.setting = setting;
  }
}
