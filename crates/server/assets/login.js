// Shows the token to the server, which answers with a cookie.
const problem = document.getElementById("problem");
document.getElementById("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.textContent = "";
  try {
    const response = await fetch("/api/v1/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: document.getElementById("token").value.trim() }),
    });
    if (response.ok) {
      // Back to the page that was asked for; the part after # never leaves the browser.
      location.replace(`/${location.hash}`);
    } else {
      problem.textContent = (await response.json()).message;
    }
  } catch {
    problem.textContent = "the server does not answer";
  }
});
