/** A missing value of a template, or an unused value. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

const PLACEHOLDER = /\{\{([A-Za-z.]+)\}\}/g;

/**
 * Fills `{{name}}` with the XML-escaped value of that name.
 * @param where the template's name, for the error
 * @param used collects the used names
 * @throws TemplateError for a name without a value
 */
export function fill(
  template: string,
  values: Readonly<Record<string, string | number>>,
  where: string,
  used: Set<string>,
): string {
  return template.replace(PLACEHOLDER, (_match, name: string) => {
    const value = values[name];
    if (value === undefined) throw new TemplateError(`${where}: no value for {{${name}}}`);
    used.add(name);
    return escapeXml(String(value));
  });
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
