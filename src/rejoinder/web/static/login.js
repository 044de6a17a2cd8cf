const wrong = new URLSearchParams(location.search).get("wrong");
document.getElementById("wrong").hidden = wrong === null || wrong === "link";
document.getElementById("ended").hidden = wrong !== "link";
