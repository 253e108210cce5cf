/**
 * Two things that the scripts do with files.
 *
 * @module
 */

/** The clone's directory, with a slash at the end. */
export const root: string = new URL("../", import.meta.url).pathname;

/** The promise's value, or undefined when the file it is about is not there. */
export async function ifThere<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The paths below a directory of the clone that a pattern accepts, sorted. */
export async function filesBelow(directory: string, accepts: RegExp): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(`${root}${directory}`)) {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory) found.push(...await filesBelow(path, accepts));
    else if (accepts.test(path)) found.push(path);
  }
  return found.sort();
}
