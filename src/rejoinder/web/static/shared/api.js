/** Calls `/api` for the pages. The message of an error is the server's sentence; `status` is its HTTP status. */

/** @param {string} path @returns {Promise<any>} */
export const get = (path) => call(path, { headers: { Accept: "application/json" } });

/** @param {string} path @returns {Promise<any>} */
export const post = (path) => call(path, { method: "POST", headers: { "X-Rejoinder": "1" } });

/** @param {string} path @param {RequestInit} init */
async function call(path, init) {
  const answer = await fetch(`/api/${path}`, init);
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const words = body.error ?? `the server answered ${answer.status}`;
    throw Object.assign(new Error(words), { status: answer.status });
  }
  return body;
}
