/** A missing value of a template, or an unused value. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

const PLACEHOLDER = /\{\{([A-Za-z.]+)\}\}/g;
/** Lines that are there only with a value of that name. */
const SECTION = /^ *\{\{#([A-Za-z.]+)\}\}\n([^]*?)^ *\{\{\/\1\}\}\n/gm;

/**
 * Fills `{{name}}` with the XML-escaped value of that name. The lines from `{{#name}}` to `{{/name}}` are left out where the
 * value is undefined.
 * @param where the template's name, for the error
 * @param used collects the used names
 * @throws TemplateError for a name without a value
 */
export function fill(
  template: string,
  values: Readonly<Record<string, string | number | undefined>>,
  where: string,
  used: Set<string>,
): string {
  const chosen = template.replace(SECTION, (_match, name: string, lines: string) => {
    if (!Object.hasOwn(values, name)) throw new TemplateError(`${where}: no value for {{#${name}}}`);
    used.add(name);
    return values[name] === undefined ? '' : lines;
  });
  return chosen.replace(PLACEHOLDER, (_match, name: string) => {
    const value = values[name];
    if (value === undefined) throw new TemplateError(`${where}: no value for {{${name}}}`);
    used.add(name);
    return escapeXml(String(value));
  });
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
