// The page works without this script, which only reports a newer turn of the session.
const goal = document.querySelector("[data-revision]");
const news = document.getElementById("news");

async function checkRevision() {
  if (document.hidden) return;
  try {
    const answer = await fetch(goal.dataset.state, { cache: "no-store" });
    if (answer.ok && (await answer.json()).revision > Number(goal.dataset.revision)) news.hidden = false;
  } catch {
    // the panel has ended; the page stays as it is
  }
}

if (goal && news) setInterval(checkRevision, 2000);
