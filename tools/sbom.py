"""The bill of materials of what dist.py packs, in CycloneDX' JSON: which library of which version lies
in which file. Source: https://cyclonedx.org/docs/1.5/json/."""
import json
import subprocess


def debian_component(package, files):
    version = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True,
                             text=True, check=True).stdout
    return component(package, version, f"pkg:deb/debian/{package}@{version}?arch=amd64", files)


def wheel_component(package, version, files):
    return component(package, version, f"pkg:pypi/{package}@{version}", files)


def component(name, version, purl, files):
    return {"type": "library", "name": name, "version": version, "purl": purl, "bom-ref": purl,
            "properties": [{"name": "proa:file", "value": file} for file in sorted(files)]}


def document(version, components):
    return json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "name": "proa", "version": version,
                                   "bom-ref": "proa"}},
        "components": sorted(components, key=lambda each: each["name"])}, indent=1) + "\n"
